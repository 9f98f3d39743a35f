package detour

import (
	"context"
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/claudecode"
	"github.com/fclog/fclog/rollout/codex"
	"github.com/fclog/fclog/rollout/freecode"
)

// judged is one case read by hand.
type judged struct {
	file, session string
	line          int
	cut           bool
	judgement     Outcome
	reason        string
}

func judgements(t testing.TB) []judged {
	f, err := os.Open("testdata/cases.tsv")
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	require.NoError(t, err)
	var out []judged
	for _, row := range rows[1:] {
		line, err := strconv.Atoi(row[2])
		require.NoError(t, err)
		out = append(out, judged{row[0], row[1], line, row[3] == "cut", Outcome(row[4]), row[5]})
	}
	return out
}

func readLog(t testing.TB, path string) []*rollout.Session {
	t.Helper()
	read := freecode.Read
	switch {
	case strings.Contains(path, "/codex/"):
		read = codex.Read
	case strings.Contains(path, "/claude/"):
		read = claudecode.Read
	}
	sessions, err := read(context.Background(), path)
	require.NoError(t, err)
	return sessions
}

func callAt(t testing.TB, sessions []*rollout.Session, id string, line int) (*rollout.Session, int) {
	for _, s := range sessions {
		for i, c := range s.Calls {
			if s.ID == id && c.Line == line && !c.Inherited && c.Parent == "" {
				return s, i
			}
		}
	}
	require.Failf(t, "no such call", "%s line %d", id, line)
	return nil, 0
}

// TestAgreesWithReadingByHand compares the rules with what a person read in the
// logs before the rules existed.
func TestAgreesWithReadingByHand(t *testing.T) {
	devdata.Dir(t)
	cases := judgements(t)
	logs := map[string][]*rollout.Session{}
	var cut, agreed, all, allAgreed int
	for _, c := range cases {
		if logs[c.file] == nil {
			logs[c.file] = readLog(t, devdata.Dir(t, strings.Split(c.file, "/")...))
		}
		s, call := callAt(t, logs[c.file], c.session, c.line)
		assert.Equal(t, c.cut, s.Calls[call].Truncated != rollout.NotTruncated, "%s:%d", c.file, c.line)
		got := newHistory(s).classify(call)
		same := (got == Recovered) == (c.judgement == Recovered)
		if !same || got != c.judgement {
			t.Logf("%s:%d: by hand %s (%s), by rule %s, agree on recovery %v", c.file, c.line, c.judgement, c.reason, got, same)
		}
		all++
		if same {
			allAgreed++
		}
		if c.cut {
			cut++
			if same {
				agreed++
			}
		}
	}
	t.Logf("truncated: %d of %d agree; all: %d of %d", agreed, cut, allAgreed, all)
	require.GreaterOrEqual(t, cut, 40)
	assert.GreaterOrEqual(t, float64(agreed), 0.85*float64(cut))
	assert.GreaterOrEqual(t, float64(allAgreed), 0.85*float64(all))
}
