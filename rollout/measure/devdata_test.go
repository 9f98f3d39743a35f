package measure

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/claudecode"
	"github.com/fclog/fclog/rollout/codex"
	"github.com/fclog/fclog/rollout/freecode"
)

// logs lists the .jsonl files below a folder of the real logs.
func logs(t testing.TB, name string, want func(path string) bool) []string {
	var out []string
	root := devdata.Dir(t, name)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && want(path) {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func isRollout(path string) bool { return filepath.Base(path) == "events.jsonl" }

func isJSONL(path string) bool { return strings.HasSuffix(path, ".jsonl") }

type readFunc func(ctx context.Context, path string) ([]*rollout.Session, error)

func measured(t testing.TB, counter *tokens.Tokens, read readFunc, path string) ([]*rollout.Session, []*Measured) {
	sessions, err := read(context.Background(), path)
	require.NoError(t, err, path)
	out := make([]*Measured, len(sessions))
	for i, s := range sessions {
		out[i] = Measure(s, counter)
		assert.Equal(t, carriedBySpans(out[i]), carriedByRequests(s, out[i]), path)
		checkRequestSums(t, s, out[i])
	}
	return sessions, out
}

// knownRepeats are FreeCode's own repeatedCalls, counted from the events alone:
// equal tool and arguments of calls that ran.
func knownRepeats(t testing.TB, path string) (n int) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]bool{}
	for dec := json.NewDecoder(f); ; {
		var e struct {
			Type, Tool string
			Args       json.RawMessage
		}
		if dec.Decode(&e) != nil {
			return n
		}
		if e.Type != "function.call" || e.Args == nil {
			continue
		}
		if key := e.Tool + ":" + string(e.Args); seen[key] {
			n++
		} else {
			seen[key] = true
		}
	}
}

func TestFreeCodeLogs(t *testing.T) {
	counter := tokens.New()
	for _, path := range logs(t, "freecode", isRollout) {
		sessions, ms := measured(t, counter, freecode.Read, path)
		s, m := sessions[0], ms[0]
		repeats := 0
		for i, c := range m.Calls {
			if c.RepeatOf >= 0 {
				repeats++
				assert.Equal(t, s.Texts[s.Calls[c.RepeatOf].Args], s.Texts[s.Calls[i].Args])
			}
		}
		assert.Equal(t, knownRepeats(t, path), repeats, s.ID)
		for _, c := range m.Calibration {
			if c.Kind == "" && c.Fit == FitAll {
				// The provider of these runs counted o200k_base and 4 tokens a message.
				assert.InDelta(t, 1, c.Factor, 0.002, s.ID)
				assert.InDelta(t, 4, c.FramingPerMessage, 0.1, s.ID)
			}
		}
	}
}

// score is how much of one session and model is explained.
type score struct {
	name, model string
	Explanation
}

func scores(t testing.TB, counter *tokens.Tokens, dir string, read readFunc) (out []score) {
	for _, path := range logs(t, dir, isJSONL) {
		sessions, ms := measured(t, counter, read, path)
		for i, s := range sessions {
			for _, model := range modelsOf(s) {
				e := Explained(s, ms[i], model)
				out = append(out, score{filepath.Base(path) + " " + s.Agent, model, e})
			}
		}
	}
	return out
}

func TestLogsExplainTheirGrowth(t *testing.T) {
	counter := tokens.New()
	all := scores(t, counter, "codex", codex.Read)
	all = append(all, scores(t, counter, "claude", claudecode.Read)...)
	var values []float64
	for _, s := range all {
		if s.Explained == nil {
			assert.Positive(t, s.LeftOut[NonFinal]+s.LeftOut[Removed]+s.LeftOut[Cleared], "%s %s: nothing scored, nothing left out", s.name, s.model)
			t.Logf("%-50s %-28s not scored, left out %v", s.name, s.model, s.LeftOut)
			continue
		}
		t.Logf("%-50s %-28s %.3f of %d pairs, left out %v", s.name, s.model, *s.Explained, s.Pairs, s.LeftOut)
		values = append(values, *s.Explained)
		assert.Greater(t, *s.Explained, 0.8, "%s %s", s.name, s.model)
	}
	slices.Sort(values)
	assert.GreaterOrEqual(t, values[len(values)/2], 0.9)
}

// wireRequest is what one request really held, by the recording proxy's count.
type wireRequest struct {
	Session   string
	EventLine int
	Tokens    struct{ System, ToolDefs int64 }
	Parts     []struct {
		Where, Role, Kind string
		Msg, Part         int
		Tokens            int64
	}
}

// unlogged is what FreeCode's log does not hold of a request: tool definitions,
// system blocks, and the project context that leads the first message.
func (w wireRequest) unlogged() int64 {
	sum := w.Tokens.System + w.Tokens.ToolDefs
	for _, p := range w.Parts {
		if p.Where == "message" && p.Role == "user" && p.Msg == 0 && p.Part == 0 {
			sum += p.Tokens
		}
	}
	return sum
}

func wireRequests(t testing.TB, name string) map[string]map[int]wireRequest {
	f, err := os.Open(devdata.Dir(t, "freecode", name, "wire-summary.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	zr, err := gzip.NewReader(f)
	require.NoError(t, err)
	out := map[string]map[int]wireRequest{}
	for dec := json.NewDecoder(zr); ; {
		var w wireRequest
		if err := dec.Decode(&w); err == io.EOF {
			return out
		} else {
			require.NoError(t, err)
		}
		if out[w.Session] == nil {
			out[w.Session] = map[int]wireRequest{}
		}
		out[w.Session][w.EventLine] = w
	}
}

func TestFreeCodeUnloggedIsWhatTheWireShows(t *testing.T) {
	counter := tokens.New()
	for _, run := range []string{"large-seven", "medium-agents", "medium-go", "small-errors", "small-fix", "small-output", "small-verify"} {
		wire := wireRequests(t, run)
		for _, path := range logs(t, filepath.Join("freecode", run), isRollout) {
			sessions, ms := measured(t, counter, freecode.Read, path)
			s, m := sessions[0], ms[0]
			summaries := perRequest(s, func(i int) int64 {
				if s.Items[s.Spans[i].Item].Kind == rollout.Summary {
					return value(m.Spans[i].Tokens)
				}
				return 0
			})
			var got, want int64
			worst := 0.0
			for i, r := range s.Requests {
				w, ok := wire[s.ID][r.Line]
				if !ok || m.Requests[i].Unlogged == nil {
					continue
				}
				a, b := *m.Requests[i].Unlogged, w.unlogged()-summaries[i]
				got, want = got+a, want+b
				worst = max(worst, math.Abs(float64(a-b))/float64(b))
			}
			t.Logf("%s %s: unlogged %d, on the wire %d (%+.2f %%), worst request %.2f %%", run, s.ID, got, want, 100*float64(got-want)/float64(want), 100*worst)
			// A compaction deletes the texts before it from the store: lost text is
			// unlogged, too.
			limit := 0.02
			if slices.ContainsFunc(s.Items, func(it rollout.Item) bool { return it.Kind == rollout.Summary }) {
				limit = 0.04
			}
			assert.InEpsilon(t, want, got, limit, s.ID)
		}
	}
}
