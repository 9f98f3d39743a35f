package fidelity_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/fidelity"
	sizes "github.com/fclog/fclog/rollout/measure"
)

// uncounted are captures whose usage is no count of tokens.
var uncounted = []string{"rec-opencode-compact"}

// front is the constant part of one conversation, as sent and as estimated.
type front struct {
	capture  string
	session  string
	requests int
	named    int64   // system prompt and tool definitions of the first request
	sent     int64   // the least that any request carried of parts that the log does not hold
	blind    []int64 // the same of each request without usage
	estimate *sizes.Constant
}

// TestConstant compares the estimate of what goes out unchanged and is not logged
// with the parts that really went out with every request.
func TestConstant(t *testing.T) {
	counter := tokens.New()
	var rows []front
	for _, c := range captures(t) {
		if c.log == nil || slices.Contains(uncounted, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			held := fidelity.Held{}
			rebuilt := read(t, c.log, held)
			sent := sentBy(t, c.sent, counter)
			result := fidelity.Comparison{Tokens: counter, Held: held}.Compare(rebuilt, sent)
			var largest front
			for _, s := range result.Sessions {
				i := slices.IndexFunc(rebuilt, func(x *rollout.Session) bool { return x.ID == s.ID && x.Source == s.Source })
				f := frontOf(rebuilt[i], s.Pairs, sent, counter)
				if f.requests < 2 {
					continue
				}
				f.capture = c.name
				f.check(t)
				if f.requests > largest.requests {
					largest = f
				}
			}
			rows = append(rows, largest)
		})
	}
	table := frontTable(rows)
	t.Log("\n" + table)
	keepBetween(t, constantBegin, constantEnd, table)
}

// frontOf looks at the turns of the main chain.
func frontOf(s *rollout.Session, pairs []fidelity.Pair, sent []fidelity.Request, counter *tokens.Tokens) front {
	out := front{session: s.ID}
	sized := sizes.Measure(s, counter).Requests
	for _, p := range pairs {
		if p.Chain != 0 || p.Kind != rollout.KindTurn {
			continue
		}
		i := slices.IndexFunc(s.Requests, func(r rollout.Request) bool { return r.Chain == p.Chain && r.Number == p.Number })
		out.estimate = sized[i].Constant
		if p.UnloggedPredicted == nil {
			out.blind = append(out.blind, p.UnloggedSent)
			continue
		}
		if out.requests++; out.requests == 1 {
			out.sent = p.UnloggedSent
			for _, part := range sent[p.Sent].Parts {
				if part.Kind == rollout.SystemPrompt || part.Kind == rollout.ToolDefinitions {
					out.named += part.Tokens
				}
			}
		}
		out.sent = min(out.sent, p.UnloggedSent)
	}
	return out
}

// off is the error as a share of what was sent; nil where the log holds what is
// constant.
func (f front) off() *float64 {
	if f.sent == 0 || f.estimate == nil || f.estimate.Method == sizes.FromLog {
		return nil
	}
	v := math.Abs(float64(f.estimate.Tokens-f.sent)) / float64(f.sent)
	return &v
}

func (f front) check(t *testing.T) {
	if !assert.NotNil(t, f.estimate, f.session) {
		return
	}
	if f.estimate.Method == sizes.FromLog {
		assert.Less(t, f.sent, int64(50), "%s: nothing but small change is left over", f.session)
		return
	}
	for _, sent := range f.blind {
		assert.InEpsilon(t, sent, f.estimate.Tokens, unloggedGoal, "%s: a request without usage", f.session)
	}
	assert.LessOrEqual(t, *f.off(), unloggedGoal, "%s: constant %d, sent %d", f.session, f.estimate.Tokens, f.sent)
	assert.GreaterOrEqual(t, f.sent, f.estimate.Low, f.session)
	assert.LessOrEqual(t, f.sent, f.estimate.High, f.session)
}

func frontTable(rows []front) string {
	var b strings.Builder
	b.WriteString("| capture | requests | system prompt and tools | constant and not logged | estimated | interval | from | error |\n|---|--:|--:|--:|--:|--:|---|--:|\n")
	slices.SortFunc(rows, func(x, y front) int { return cmp.Compare(x.capture, y.capture) })
	for _, r := range rows {
		interval, from := "–", "the log holds both"
		if r.estimate.Method != sizes.FromLog {
			interval = term.Exact(r.estimate.Low) + "–" + term.Exact(r.estimate.High)
			from = strings.ReplaceAll(string(r.estimate.Method), "-", " ")
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", r.capture, r.requests, term.Exact(r.named), term.Exact(r.sent),
			term.Exact(r.estimate.Tokens), interval, from, share(r.off()))
	}
	return b.String()
}

const (
	constantBegin = "<!-- table: go test ./rollout/fidelity -run TestConstant -update-fidelity -->\n"
	constantEnd   = "<!-- end of the table of constant parts -->"
)

// keepBetween compares a table with docs/fidelity.md, or puts it there.
func keepBetween(t *testing.T, begin, end, table string) {
	path := filepath.Join("..", "..", "docs", "fidelity.md")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "docs/fidelity.md has a table")
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the table has an end")
	if *updateTable {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
		return
	}
	assert.Equal(t, table, old, "go test ./rollout/fidelity -run TestConstant -update-fidelity, and read the difference")
}
