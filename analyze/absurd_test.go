package analyze

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// TestAbsurdValues: whatever stands in the logs of any format, what was imported is
// sound, and every question and the audit have an answer that can be written down.
// Each log has one class of damage a round, and its neighbour another.
func TestAbsurdValues(t *testing.T) {
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		dir := t.TempDir()
		sum, err := dataset.Import(t.Context(), dir, damagedLogs(t, round), dataset.Options{})
		require.NoError(t, err)
		require.NotZero(t, sum.Sessions)
		for _, f := range verify(t, dir).Findings {
			assert.Fail(t, "unsound", "%+v", f)
		}
		db := open(t, Options{Dataset: dir})
		answerAll(t, db)
		a, err := RunAudit(t.Context(), db)
		require.NoError(t, err)
		_, err = json.Marshal(a) // fails on what is no number
		require.NoError(t, err)
		_, err = RunCharts(t.Context(), db, a)
		require.NoError(t, err)
	}
}

// answerAll runs every shipped question.
func answerAll(t *testing.T, db *DB) {
	t.Helper()
	questions, err := Questions()
	require.NoError(t, err)
	for _, q := range questions {
		rows, err := Ask(t.Context(), db, q.Name, Params{})
		require.NoError(t, err, q.Name)
		for rows.Next() {
		}
		require.NoError(t, rows.Err(), q.Name)
		rows.Close()
	}
}

// damagedLogs are all logs of testdata, each damaged in its own way.
func damagedLogs(t *testing.T, round int) []dataset.Input {
	t.Helper()
	root := filepath.Join(t.TempDir(), "logs")
	require.NoError(t, os.CopyFS(root, os.DirFS(filepath.Join("..", "testdata"))))
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bad")))
	files, _, err := formats.Expand(t.Context(), []string{root})
	require.NoError(t, err)
	var out []dataset.Input
	damages := hostile.Damages()
	for n, f := range files {
		d := damages[(n+round)%len(damages)]
		if f.Format.Carrier != nil && f.Format.Carrier(f.Path) {
			continue
		}
		log, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f.Path, hostile.Rewrite(log, d.Change((n+round)%d.Seeds)), 0o600))
		out = append(out, dataset.Input{Path: f.Path, Read: func(ctx context.Context) ([]*rollout.Session, error) { return f.Format.Read(ctx, f.Path) }})
	}
	return out
}
