package freecode

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// totals are one row of the independently counted totals of the real logs.
type totals struct {
	requests, answered, input, cacheRead, cacheWrite, output, calls, repeated int64
}

var totalsRow = regexp.MustCompile(`^\| freecode/([^/]+)/…/([^ ]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| answered (\d+), calls (\d+), repeatedCalls (\d+)`)

func knownTotals(t *testing.T) map[string]totals {
	t.Helper()
	raw, err := os.ReadFile(devdata.Dir(t, "README.md"))
	require.NoError(t, err)
	out := map[string]totals{}
	for _, line := range strings.Split(string(raw), "\n") {
		m := totalsRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var n [8]int64
		for i := range n {
			n[i], err = strconv.ParseInt(m[3+i], 10, 64)
			require.NoError(t, err)
		}
		out[m[1]+"/"+m[2]] = totals{n[0], n[5], n[1], n[2], n[3], n[4], n[6], n[7]}
	}
	return out
}

func sessionFile(t *testing.T, name, id string) string {
	return devdata.Dir(t, "freecode", name, "freecode", "rollout", "sessions", id, "events.jsonl")
}

func readOne(t *testing.T, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	return sessions[0]
}

func TestKnownTotals(t *testing.T) {
	rows := knownTotals(t)
	require.Len(t, rows, 18)
	for key, want := range rows {
		t.Run(key, func(t *testing.T) {
			name, id, _ := strings.Cut(key, "/")
			assert.Equal(t, want, sum(readOne(t, sessionFile(t, name, id))))
		})
	}
}

func sum(s *rollout.Session) totals {
	var got totals
	for _, r := range s.Requests {
		got.requests++
		if r.Status == rollout.Answered {
			got.answered++
		}
		got.input += value(r.Usage.Input)
		got.cacheRead += value(r.Usage.CacheRead)
		got.cacheWrite += value(r.Usage.CacheWrite)
		got.output += value(r.Usage.Output)
	}
	seen := map[string]bool{}
	for _, c := range s.Calls {
		if !c.Ran {
			continue
		}
		got.calls++
		key := c.Tool + ":" + s.Texts[c.Args].S
		if seen[key] {
			got.repeated++
		}
		seen[key] = true
	}
	return got
}

// wirePart is one part of a request that was really sent.
type wirePart struct {
	Where  string `json:"where"`
	Msg    int    `json:"msg"`
	Part   int    `json:"part"`
	Role   string `json:"role"`
	Kind   string `json:"kind"`
	Tool   string `json:"tool"`
	Chars  int64  `json:"chars"`
	Tokens int64  `json:"tokens"`
	SHA    string `json:"sha256"`
}

type wireRequest struct {
	Session   string     `json:"session"`
	Agent     string     `json:"agent"`
	EventLine int        `json:"eventLine"`
	Total     int64      `json:"tokensTotal"`
	Parts     []wirePart `json:"parts"`
	Usage     *struct {
		Input      int64 `json:"input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// blocks are the parts in front of the conversation, which no file holds.
func (w *wireRequest) blocks() string {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Where != "message" || p.Msg == 0 && p.Part == 0 {
			b.WriteString(p.SHA)
		}
	}
	return b.String()
}

func (w *wireRequest) conversation() []wirePart {
	var out []wirePart
	for _, p := range w.Parts {
		if p.Where == "message" && (p.Msg != 0 || p.Part != 0) {
			out = append(out, p)
		}
	}
	return out
}

func wire(t *testing.T, name string) map[string][]*wireRequest {
	t.Helper()
	f, err := os.Open(devdata.Dir(t, "freecode", name, "wire-summary.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	out := map[string][]*wireRequest{}
	dec := json.NewDecoder(bufio.NewReader(z))
	for dec.More() {
		w := &wireRequest{}
		require.NoError(t, dec.Decode(w))
		if w.EventLine > 0 {
			out[w.Session] = append(out[w.Session], w)
		}
	}
	return out
}

func captures(t *testing.T) []string {
	entries, err := os.ReadDir(devdata.Dir(t, "freecode"))
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// payload is the spans alive at a request, in order.
func payload(s *rollout.Session, r rollout.Request) []rollout.Span {
	var out []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			out = append(out, sp)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Position < out[j].Position })
	return out
}

// conversationOf leaves out what stands in the system prompt.
func conversationOf(s *rollout.Session, spans []rollout.Span) []rollout.Span {
	var out []rollout.Span
	for _, sp := range spans {
		if s.Items[sp.Item].Role != rollout.RoleSystem {
			out = append(out, sp)
		}
	}
	return out
}

func sha(s *rollout.Session, sp rollout.Span) string {
	h := s.Texts[sp.Text].Hash
	return hex.EncodeToString(h[:])
}

// align counts the tokens of wire parts that the rebuilt parts match in order,
// by a longest common subsequence over the few places where they differ.
func align(got []string, want []wirePart) (matched, total int64, missed []wirePart) {
	i := 0
	for _, w := range want {
		total += w.Tokens
		j := i
		for j < len(got) && got[j] != w.SHA {
			j++
		}
		if j == len(got) || j-i > 3 {
			missed = append(missed, w)
			continue
		}
		i = j + 1
		matched += w.Tokens
	}
	return matched, total, missed
}

func TestPayloadEqualsWire(t *testing.T) {
	for _, name := range captures(t) {
		for id, requests := range wire(t, name) {
			t.Run(name+"/"+id, func(t *testing.T) {
				s := readOne(t, sessionFile(t, name, id))
				byLine := map[int]rollout.Request{}
				for _, r := range s.Requests {
					byLine[r.Line] = r
				}
				var matched, total int64
				var exact int
				misses := map[string]int{}
				for _, w := range requests {
					r, ok := byLine[w.EventLine]
					require.True(t, ok, "no request at line %d", w.EventLine)
					var got []string
					for _, sp := range conversationOf(s, payload(s, r)) {
						got = append(got, sha(s, sp))
					}
					m, n, missed := align(got, w.conversation())
					matched, total = matched+m, total+n
					if m == n && len(got) == len(w.conversation()) {
						exact++
					}
					for _, p := range missed {
						misses[p.Kind+" "+p.Tool]++
					}
				}
				t.Logf("%s %s: %.5f of %d tokens, %d of %d requests exact; missed %v; problems %v", name, requests[0].Agent, float64(matched)/float64(total), total, exact, len(requests), misses, s.Problems)
				assert.GreaterOrEqual(t, float64(matched)/float64(total), 0.995)
			})
		}
	}
}
