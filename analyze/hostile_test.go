package analyze

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/codex"
)

// poison puts hostile values into every string of a session but those that tie its
// own parts together, and hostile numbers nowhere: those are checked when read.
func poison(s *rollout.Session, n int) {
	texts := hostile.Texts()
	next := func() string {
		n++
		return texts[n%len(texts)]
	}
	var walk func(v reflect.Value, name string)
	walk = func(v reflect.Value, name string) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), name)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), name)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i), v.Type().Field(i).Name)
				}
			}
		case reflect.String:
			if v.CanSet() && v.Type() == reflect.TypeFor[string]() && name != "Source" && name != "S" {
				v.SetString(next())
			}
		}
	}
	calls := s.Calls
	walk(reflect.ValueOf(s).Elem(), "")
	for i := range calls { // unique within a session
		calls[i].ID = fmt.Sprintf("%s#%d", next(), i)
	}
	s.ID = fmt.Sprintf("%s %d", next(), n)
}

// TestHostileValues: whatever a log says, views, questions, the audit and the check
// of the dataset work, and count the same.
func TestHostileValues(t *testing.T) {
	dir := t.TempDir()
	var inputs []dataset.Input
	const copies = 3
	for n := range copies {
		path := "../testdata/codex/poll-0.104.jsonl"
		inputs = append(inputs, dataset.Input{
			Path:    path,
			Depends: []string{fmt.Sprint("copy ", n)},
			Read: func(ctx context.Context) ([]*rollout.Session, error) {
				sessions, err := codex.Read(ctx, path)
				for i, s := range sessions {
					poison(s, 1000*n+7*i)
				}
				return sessions, err
			},
		})
	}
	for n, in := range inputs { // one file cannot be imported twice in one go
		sum, err := dataset.Import(t.Context(), fmt.Sprint(dir, n), []dataset.Input{in}, dataset.Options{})
		require.NoError(t, err)
		require.Empty(t, sum.Failed)
		dir := fmt.Sprint(dir, n)
		v := verify(t, dir)
		assert.Empty(t, v.Findings)
		db := open(t, Options{Dataset: dir})
		assert.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM sessions"))
		answerAll(t, db)
		a, err := RunAudit(t.Context(), db)
		require.NoError(t, err)
		assert.Len(t, a.Sessions, 1)
		for _, value := range hostile.Texts() {
			require.Equal(t, []string{"1"}, rowsOf(t, db, "SELECT count(*) FROM sessions"), "still there")
			rows, err := Ask(t.Context(), db, "payload", Params{Session: strings.ToValidUTF8(value, "\ufffd")})
			require.NoError(t, err, "%.40q", value)
			rows.Close()
		}
	}
}
