package fidelity_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/fidelity"
	"github.com/fclog/fclog/rollout/formats"
)

var (
	updateTable = flag.Bool("update-fidelity", false, "put the current table into docs/fidelity.md")
	showParts   = flag.Bool("show-differences", false, "log every distinct difference")
)

// The goals of every capture. unloggedTotals holds for formats that log no usage
// per request.
const (
	goalShare      = 0.995
	unloggedGoal   = 0.02
	unloggedTotals = 0.05
)

// capture is a log and what was really sent while it was written.
type capture struct {
	name string // as in the table
	log  []string
	sent string // wire summary or request bodies
}

// captures finds all pairs of the real data.
func captures(t *testing.T) []capture {
	root := devdata.Dir(t)
	var out []capture
	for _, wire := range glob(t, root, "freecode", "*", "wire-summary.jsonl.gz") {
		dir := filepath.Dir(wire)
		out = append(out, capture{"freecode/" + filepath.Base(dir), []string{filepath.Join(dir, "freecode")}, wire})
	}
	for _, wire := range glob(t, root, "wire", "*", "*", "wire-summary.jsonl.gz") {
		dir := filepath.Dir(wire)
		out = append(out, forms(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), filepath.Join(dir, "log"), wire)...)
	}
	for _, bodies := range glob(t, root, "api-log", "rec-*") {
		out = append(out, recorded(t, root, bodies)...)
	}
	return out
}

// forms are the ways the logs of a folder are stored, each a capture of its own:
// an export and a database hold the same sessions.
func forms(name, dir, wire string) []capture {
	files, _, err := formats.Expand(context.Background(), []string{dir})
	if err != nil {
		return []capture{{name, nil, wire}}
	}
	by := map[string][]string{}
	for _, f := range files {
		by[filepath.Ext(f.Path)] = append(by[filepath.Ext(f.Path)], f.Path)
	}
	var out []capture
	for ext, logs := range by {
		c := capture{name, logs, wire}
		if len(by) > 1 {
			c.name += " " + ext
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(x, y capture) int { return cmp.Compare(x.name, y.name) })
	return out
}

// recorded ties api-log/rec-AGENT-NAME to AGENT/rec-NAME. Bodies without a session
// of their name have nothing to be compared with.
func recorded(t *testing.T, root, bodies string) []capture {
	base, _, _ := strings.Cut(filepath.Base(bodies), ".")
	agent, name, _ := strings.Cut(strings.TrimPrefix(base, "rec-"), "-")
	var out []capture
	for _, log := range glob(t, root, agent, "rec-"+name+".*") {
		out = append(out, capture{base, []string{log}, bodies})
	}
	return out
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parts...))
	require.NoError(t, err)
	return found
}

// read reads the sessions of log files and the texts that stand in them.
func read(t *testing.T, paths []string, held fidelity.Held) []*rollout.Session {
	t.Helper()
	files, _, err := formats.Expand(context.Background(), paths)
	require.NoError(t, err)
	var out []*rollout.Session
	for _, f := range files {
		sessions, err := f.Format.Read(context.Background(), f.Path)
		require.NoError(t, err, f.Path)
		out = append(out, sessions...)
		parts := []string{f.Path}
		if f.Format.Depends != nil {
			parts = append(parts, f.Format.Depends(f.Path)...)
		}
		require.NoError(t, held.AddLog(parts...))
	}
	return out
}

func sentBy(t *testing.T, path string, counter *tokens.Tokens) []fidelity.Request {
	t.Helper()
	sent, err := fidelity.ReadSent([]string{path}, counter, func(files []string) ([]*rollout.Session, error) {
		return read(t, files, fidelity.Held{}), nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, sent)
	return sent
}

// exception is where a capture may stay below the goals, and why.
type exception struct {
	Capture   string               `json:"capture"`
	Share     float64              `json:"share"`    // least share of a session; 0 the goal
	Unlogged  float64              `json:"unlogged"` // worst error; 0 the goal
	Extra     int                  `json:"extra"`    // parts rebuilt but not sent
	NotLogged map[fidelity.Why]int `json:"not_logged"`
	NotSent   int                  `json:"not_sent"`
	UsageOff  int                  `json:"usage_off"`
	Others    int                  `json:"not_captured"` // sessions in the folder that the capture is not of
	Reason    string               `json:"reason"`
}

func exceptions(t *testing.T) map[string]exception {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "exceptions.json"))
	require.NoError(t, err)
	var list []exception
	require.NoError(t, json.Unmarshal(raw, &list))
	out := map[string]exception{}
	for _, e := range list {
		assert.NotEmpty(t, e.Reason, e.Capture)
		assert.NotContains(t, out, e.Capture)
		out[e.Capture] = e
	}
	return out
}

// row is a line of the table.
type row struct {
	capture string
	agent   string
	sent    int
	sums    fidelity.Sums
	lowest  *float64 // share of the worst session
	result  fidelity.Result
	totals  bool // no usage per request
	left    string
}

// TestFidelity compares every log of the real data with what was really sent.
func TestFidelity(t *testing.T) {
	list := captures(t)
	known := exceptions(t)
	counter := tokens.New()
	var rows []row
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := formats.Expand(context.Background(), c.log); c.log == nil || err != nil {
				t.Skip("no reader knows this log")
			}
			if _, err := formats.Detect(c.sent); err != nil && !strings.Contains(c.sent, "wire-summary") {
				t.Skip("no reader knows these bodies")
			}
			r := measure(t, c, counter)
			e := known[c.name]
			r.left = e.Reason
			rows = append(rows, r)
			r.check(t, e)
			r.show(t)
		})
	}
	table := tableOf(rows)
	t.Log("\n" + table)
	keep(t, table)
}

func measure(t *testing.T, c capture, counter *tokens.Tokens) row {
	held := fidelity.Held{}
	rebuilt := read(t, c.log, held)
	sent := sentBy(t, c.sent, counter)
	r := row{capture: c.name, sent: len(sent), totals: true}
	r.result = fidelity.Comparison{Tokens: counter, Held: held}.Compare(rebuilt, sent)
	r.sums = fidelity.SumOf(r.result.Pairs())
	for _, s := range r.result.Sessions {
		if share := fidelity.SumOf(s.Pairs).Share; share != nil && (r.lowest == nil || *share < *r.lowest) {
			r.lowest = share
		}
		r.agent = strings.TrimSpace(s.Source + " " + s.AgentVersion)
	}
	for _, s := range rebuilt {
		for _, q := range s.Requests {
			r.totals = r.totals && q.Usage.Input == nil
		}
	}
	return r
}

// check holds a row against the goals, or against the exception made for it.
func (r row) check(t *testing.T, e exception) {
	assert.NotZero(t, r.sums.Requests, "no request was paired")
	least := cmp.Or(e.Share, goalShare)
	if assert.NotNil(t, r.lowest) {
		assert.GreaterOrEqual(t, *r.lowest, least, "share of the logged tokens that were rebuilt, worst session")
	}
	bound := unloggedGoal
	if r.totals {
		bound = unloggedTotals
	}
	if worst := r.sums.UnloggedWorst; worst != nil {
		assert.LessOrEqual(t, *worst, cmp.Or(e.Unlogged, bound), "error of the unlogged tokens")
	}
	assert.Equal(t, r.sums.Requests, r.sums.OrderKept, "requests in order")
	assert.Equal(t, e.Extra, r.sums.Extra, "parts rebuilt but not sent")
	assert.Equal(t, e.UsageOff, r.sums.UsageOff, "requests with another usage")
	assert.Len(t, r.result.Unsent, e.NotSent, "requests of the log that were not sent")
	assert.Len(t, r.result.Uncaptured, e.Others, "sessions of the log that were not captured")
	missing := map[fidelity.Why]int{}
	for _, l := range r.result.Unlogged {
		missing[l.Why]++
	}
	if len(missing)+len(e.NotLogged) > 0 {
		assert.Equal(t, e.NotLogged, missing, "requests sent that the log does not tell of")
	}
}

// show logs each distinct difference once.
func (r row) show(t *testing.T) {
	if !*showParts {
		return
	}
	for _, l := range r.result.Unlogged {
		t.Logf("not in the log: %+v", l)
	}
	for _, l := range r.result.Unsent {
		t.Logf("not sent: %+v", l)
	}
	seen := map[string]int{}
	for _, p := range r.result.Pairs() {
		if e := p.UnloggedError(); e != nil && *e > unloggedGoal {
			t.Logf("line %d request %d %s: unlogged %d, predicted %d (%.4f)", p.Line, p.Number, p.Kind, p.UnloggedSent, *p.UnloggedPredicted, *e)
		}
		if p.Usage != nil && !*p.Usage {
			t.Logf("line %d request %d %s by %s: other usage", p.Line, p.Number, p.Kind, p.By)
		}
		for _, d := range p.Differences {
			key := ""
			for _, side := range []*fidelity.Part{d.Rebuilt, d.Sent} {
				if side != nil {
					key += side.SHA256
				}
			}
			if seen[key]++; seen[key] == 1 {
				t.Logf("line %d request %d by %s: %s %s %s %q at %d, %d tokens, call %s", p.Line, p.Number, p.By, d.Change, d.Kind, d.Role, d.Tool, d.Position, d.Tokens, d.CallID)
			}
		}
	}
}

func tableOf(rows []row) string {
	var b strings.Builder
	b.WriteString("| agent | capture | requests compared | logged tokens | rebuilt as sent | worst session | in order | unlogged: worst / median error | what is left |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | %s | %s | %d of %d | %s / %s | %s |\n", r.agent, r.capture, r.sums.Requests, r.sent,
			term.Exact(r.sums.LoggedTokens), share(r.sums.Share), share(r.lowest), r.sums.OrderKept, r.sums.Requests,
			share(r.sums.UnloggedWorst), share(r.sums.UnloggedMedian), cmp.Or(r.left, "–"))
	}
	return b.String()
}

// share never rounds up to 100 %.
func share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", float64(int64(*v*1e4+1e-6))/100)
}

const (
	tableBegin = "<!-- table: go test ./rollout/fidelity -run TestFidelity -update-fidelity -->\n"
	tableEnd   = "<!-- end of table -->"
)

// keep compares the table with docs/fidelity.md, or puts it there.
func keep(t *testing.T, table string) {
	path := filepath.Join("..", "..", "docs", "fidelity.md")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), tableBegin)
	require.True(t, ok, "docs/fidelity.md has a table")
	old, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "the table has an end")
	if *updateTable {
		require.NoError(t, os.WriteFile(path, []byte(before+tableBegin+table+tableEnd+after), 0o644))
		return
	}
	assert.Equal(t, table, old, "go test ./rollout/fidelity -run TestFidelity -update-fidelity, and read the difference")
}
