package formats

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/rollout"
)

// samples are all logs of testdata that hold JSON, with their formats; every
// format has some.
func samples(t *testing.T) []File {
	t.Helper()
	files, _, err := Expand(t.Context(), []string{filepath.Join("..", "..", "testdata")})
	require.NoError(t, err)
	has := map[string]bool{}
	var out []File
	for _, f := range files {
		if strings.Contains(f.Path, filepath.Join("testdata", "bad")) || f.Format.Carrier != nil && f.Format.Carrier(f.Path) {
			continue
		}
		has[f.Format.Name] = true
		out = append(out, f)
	}
	for _, f := range All() {
		require.True(t, has[f.Name], "testdata has no log of %s", f.Name)
	}
	return out
}

// checked is how rollout.Check begins, which finds faults of readers only.
var checked = regexp.MustCompile(`^session .* of `)

// readBound is far more than any of the logs takes, and far less than a hang.
const (
	readBound   = 20 * time.Second
	memoryBound = 1 << 30 // allocated in total, much of it garbage
)

// TestAbsurdValues: whatever stands in a log of any format, it is read in bounded
// time, what comes out holds together, and no figure is one that cannot be.
func TestAbsurdValues(t *testing.T) {
	read := map[string]int{} // requests by format
	for _, f := range samples(t) {
		log, at := aside(t, f)
		for _, d := range hostile.Damages() {
			for seed := range d.Seeds {
				name := fmt.Sprintf("%s/%s/%s/%d", f.Format.Name, filepath.Base(f.Path), d.Name, seed)
				read[f.Format.Name] += checkDamaged(t, name, at, hostile.Rewrite(log, d.Change(seed)))
			}
		}
	}
	t.Logf("requests read: %v", read)
	for _, f := range All() {
		assert.Greater(t, read[f.Name], 10, "%s: the damage is such that logs are still read", f.Name)
	}
}

// aside copies a log with its folder, to be damaged there.
func aside(t *testing.T, f File) ([]byte, File) {
	t.Helper()
	log, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), filepath.Base(filepath.Dir(f.Path)))
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(f.Path))))
	f.Path = filepath.Join(dir, filepath.Base(f.Path))
	return log, f
}

// checkDamaged reads a damaged log, and counts the requests.
func checkDamaged(t *testing.T, name string, f File, log []byte) (requests int) {
	t.Helper()
	require.NoError(t, os.WriteFile(f.Path, log, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), readBound)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sessions, err := f.Format.Read(ctx, f.Path)
	runtime.ReadMemStats(&after)
	require.NoError(t, ctx.Err(), "%s took too long", name)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(memoryBound), name)
	if err != nil {
		assert.NotRegexp(t, checked, err.Error(), name)
		return 0
	}
	for _, s := range sessions {
		require.NoError(t, rollout.Check(s), name)
		checkFigures(t, name, s)
		requests += len(s.Requests)
	}
	return requests
}

// checkFigures: sums of a million requests fit, and no time is beyond what a date
// is written with.
func checkFigures(t *testing.T, name string, s *rollout.Session) {
	t.Helper()
	for _, r := range s.Requests {
		checkTokens(t, name, r.Usage)
		if !r.Time.IsZero() {
			assert.False(t, r.Time.Year() < 1 || r.Time.Year() > 9999, "%s: request of %v", name, r.Time)
		}
		if r.DurationMS != nil {
			assert.GreaterOrEqual(t, *r.DurationMS, int64(0), name)
		}
	}
	for _, r := range s.Reported {
		checkTokens(t, name, r.Usage)
	}
	for _, it := range s.Items {
		if it.Tokens != nil {
			assert.True(t, *it.Tokens >= 0 && *it.Tokens <= rollout.MaxTokens, "%s: item of %d tokens", name, *it.Tokens)
		}
	}
	for _, p := range s.Problems {
		assert.NotEmpty(t, p.Detail, name)
		assert.Less(t, len(p.Detail), 500, "%s: %.300s", name, p.Detail)
	}
	assert.Less(t, len(s.Problems), 2000, name)
}

func checkTokens(t *testing.T, name string, u rollout.Usage) {
	t.Helper()
	for _, v := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning} {
		if v != nil {
			assert.True(t, *v >= 0 && *v <= rollout.MaxTokens, "%s: %d tokens", name, *v)
		}
	}
}

// TestDamagedBytes: nothing of a log is needed to read the rest of it; a log cut
// anywhere, or holding a line of JSON 100,000 levels deep, is told in few problems.
func TestDamagedBytes(t *testing.T) {
	deep := []byte(strings.Repeat(`{"type":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "\n")
	for _, f := range samples(t) {
		log, at := aside(t, f)
		lines := bytes.SplitAfter(log, []byte("\n"))
		half := len(lines) / 2
		for name, damaged := range map[string][]byte{
			"cut":       log[:len(log)*2/3],
			"deep line": bytes.Join([][]byte{bytes.Join(lines[:half], nil), deep, bytes.Join(lines[half:], nil)}, nil),
			"deep end":  append(bytes.Clone(log), deep...),
			"zeros":     append(bytes.Clone(log), make([]byte, 1<<20)...),
			"thrice":    bytes.Repeat(log, 3),
			"reversed":  reversed(lines),
		} {
			checkDamaged(t, f.Format.Name+"/"+filepath.Base(f.Path)+"/"+name, at, damaged)
		}
	}
}

func reversed(lines [][]byte) []byte {
	var out []byte
	for i := len(lines) - 1; i >= 0; i-- {
		out = append(out, bytes.TrimSuffix(lines[i], []byte("\n"))...)
		out = append(out, '\n')
	}
	return out
}
