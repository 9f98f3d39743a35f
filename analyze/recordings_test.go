package analyze

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// readLogs reads sessions the direct way, by file and ID: a sub-agent can stand in
// two files.
func readLogs(t *testing.T, path string) map[string]*rollout.Session {
	t.Helper()
	files, _, err := formats.Expand(context.Background(), []string{path})
	require.NoError(t, err)
	out := map[string]*rollout.Session{}
	for _, f := range files {
		sessions, err := f.Format.Read(context.Background(), f.Path)
		require.NoError(t, err)
		for _, s := range sessions {
			out[absolute(t, f.Path)+" "+s.ID] = s
		}
	}
	return out
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}

// spelledOut is a session written so that the numbering of its texts does not matter,
// with times as exact as a dataset's.
type spelledOut struct {
	Requests []rollout.Request
	Reported []rollout.Reported
	Items    []rollout.Item
	Spans    []rollout.Span
	Calls    []rollout.Call
	Texts    []rollout.Text // of items, then spans, then calls
}

func plainly(s *rollout.Session) spelledOut {
	p := spelledOut{Reported: s.Reported}
	for _, r := range s.Requests {
		r.Time, r.Inherited = milli(r.Time), false
		p.Requests = append(p.Requests, r)
	}
	for _, it := range s.Items {
		p.Texts = append(p.Texts, s.Texts[it.Text])
		it.Text = 0
		p.Items = append(p.Items, it)
	}
	for _, sp := range s.Spans {
		p.Texts = append(p.Texts, s.Texts[sp.Text])
		sp.Text = 0
		p.Spans = append(p.Spans, sp)
	}
	for _, c := range s.Calls {
		p.Texts = append(p.Texts, s.Texts[c.Args])
		if c.Full != nil {
			p.Texts = append(p.Texts, s.Texts[*c.Full])
			c.Full = new(rollout.TextID)
		}
		c.Args, c.Time, c.Inherited = 0, milli(c.Time), false
		p.Calls = append(p.Calls, c)
	}
	return p
}

func milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// checkRecordings compares sessions from a dataset with those read from the logs,
// and what is measured of them.
func checkRecordings(t *testing.T, path string) {
	want := readLogs(t, path)
	db := openLogs(t, path)
	got, err := db.Recordings(context.Background())
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, s := range want {
		ids[s.ID] = true
	}
	require.Len(t, got, len(ids))
	counts := tokens.New()
	for _, s := range got {
		w := want[s.File+" "+s.ID]
		require.NotNil(t, w, s.ID)
		a, b := plainly(w), plainly(s)
		require.Equal(t, a.Requests, b.Requests, s.ID)
		require.Equal(t, a.Items, b.Items, s.ID)
		require.Equal(t, a.Spans, b.Spans, s.ID)
		require.Equal(t, a.Calls, b.Calls, s.ID)
		require.Equal(t, a.Texts, b.Texts, s.ID)
		assert.Equal(t, w.Missing, s.Missing)
		assert.Equal(t, w.FrontMoves, s.FrontMoves)
		assert.Equal(t, milli(w.Started), s.Started)
		assert.Len(t, s.OtherBilled, len(w.OtherBilled))
		checkCounting(t, db, s)
		if ownRequests(w) != ownRequests(s) {
			continue // less of it counts, so its calibration rests on less
		}
		x, y := measure.Measure(w, counts), measure.Measure(s, counts)
		assert.Equal(t, x.Calibration, y.Calibration, s.ID)
		assert.Equal(t, x.Items, y.Items, s.ID)
		assert.Equal(t, x.Requests, y.Requests, s.ID)
	}
}

// checkCounting compares the requests that are marked as another session's with
// those that the tables leave out of all totals.
func checkCounting(t *testing.T, db *DB, s *rollout.Session) {
	var counted int64
	require.NoError(t, db.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM requests WHERE counts AND session_id = ?", s.ID).Scan(&counted))
	assert.Equal(t, counted, ownRequests(s), s.ID)
}

func ownRequests(s *rollout.Session) int64 {
	own := int64(0)
	for _, r := range s.Requests {
		if !r.Inherited {
			own++
		}
	}
	return own
}

func TestRecordingsOfEveryFormat(t *testing.T) {
	for _, format := range []string{"freecode", "codex", "claude-code"} {
		t.Run(format, func(t *testing.T) { checkRecordings(t, filepath.Join("..", "testdata", format)) })
	}
}

func TestRecordingsOfRealLogs(t *testing.T) {
	for _, folder := range []string{"freecode", "codex", "claude"} {
		t.Run(folder, func(t *testing.T) { checkRecordings(t, devdata.Dir(t, folder)) })
	}
}

func TestRecordingsNeedTexts(t *testing.T) {
	files, _, err := formats.Expand(t.Context(), []string{filepath.Join("..", "testdata", "codex", "poll-0.104.jsonl")})
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = dataset.Import(t.Context(), dir, []dataset.Input{{Path: files[0].Path, Read: func(ctx context.Context) ([]*rollout.Session, error) {
		return files[0].Format.Read(ctx, files[0].Path)
	}}}, dataset.Options{NoText: true})
	require.NoError(t, err)
	db := open(t, Options{Dataset: dir})
	_, err = db.Recordings(t.Context())
	assert.ErrorIs(t, err, ErrNoTexts)
}
