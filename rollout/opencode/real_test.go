package opencode

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// realExports are the exported sessions of the real data.
func realExports(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(devdata.Dir(t, "opencode"), "*.json"))
	require.NoError(t, err)
	wire, err := filepath.Glob(filepath.Join(devdata.Dir(t, "wire"), "opencode-*", "*", "log", "*.json"))
	require.NoError(t, err)
	return append(files, wire...)
}

// count is a token count of a decoded object.
func count64(o map[string]any, keys ...string) int64 {
	for _, k := range keys[:len(keys)-1] {
		o, _ = o[k].(map[string]any)
	}
	n, _ := o[keys[len(keys)-1]].(float64)
	return int64(n)
}

// counted adds up what the assistant messages of a session say, decoded with
// another library: of this version, output and reasoning stand side by side.
func counted(infos []map[string]any) totals {
	var sum totals
	for _, i := range infos {
		tokens, _ := i["tokens"].(map[string]any)
		if i["role"] != "assistant" || tokens == nil {
			continue
		}
		sum.requests++
		read, write := count64(tokens, "cache", "read"), count64(tokens, "cache", "write")
		sum.input += count64(tokens, "input") + read + write
		sum.cacheRead += read
		sum.cacheWrite += write
		sum.output += count64(tokens, "output") + count64(tokens, "reasoning")
		sum.reasoning += count64(tokens, "reasoning")
	}
	return sum
}

func TestRealExports(t *testing.T) {
	for _, file := range realExports(t) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var doc struct {
			Info     map[string]any
			Messages []struct {
				Info  map[string]any
				Parts []map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(raw, &doc))
		var infos []map[string]any
		calls := int64(0)
		for _, m := range doc.Messages {
			infos = append(infos, m.Info)
			for _, p := range m.Parts {
				if p["type"] == "tool" {
					calls++
				}
			}
		}
		want := counted(infos)
		want.calls = calls
		all := sessionsOf(t, file)
		require.Len(t, all, 1)
		assert.Empty(t, all[0].Problems, file)
		assert.Equal(t, want, totalsOf(all[0]), file)
	}
}

// TestRealDatabases: databases and exports of the same sessions are read alike,
// and the sums are those of the session table.
func TestRealDatabases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(devdata.Dir(t, "wire"), "opencode-*", "*", "log", "*.db"))
	require.NoError(t, err)
	files = append(files, devdata.Dir(t, "opencode", "rec-compact.opencode.db"))
	byID := map[string]*rollout.Session{}
	for _, file := range realExports(t) {
		s := sessionsOf(t, file)[0]
		byID[s.ID] = s
	}
	compared := 0
	for _, file := range files {
		sums := sessionTable(t, file)
		for _, s := range sessionsOf(t, file) {
			got := totalsOf(s)
			assert.Equal(t, sums[s.ID], [2]int64{got.input, got.output}, file)
			assert.Empty(t, s.Problems)
			if exported, ok := byID[s.ID]; ok {
				same(t, exported, s)
				assert.Equal(t, exported.Texts, s.Texts)
				compared++
			}
		}
		assert.Len(t, sums, len(sessionsOf(t, file)))
	}
	assert.Equal(t, 2, compared)
}

// sessionTable reads input and output of each session with a query.
func sessionTable(t *testing.T, file string) map[string][2]int64 {
	t.Helper()
	copied, remove, err := snapshot(context.Background(), file)
	require.NoError(t, err)
	defer remove()
	db, err := sql.Open("sqlite", copied)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT id, tokens_input + tokens_cache_read + tokens_cache_write, tokens_output + tokens_reasoning FROM session")
	require.NoError(t, err)
	defer rows.Close()
	out := map[string][2]int64{}
	for rows.Next() {
		var id string
		var input, output int64
		require.NoError(t, rows.Scan(&id, &input, &output))
		out[id] = [2]int64{input, output}
	}
	require.NoError(t, rows.Err())
	return out
}

// body is what of a recorded request body the log can tell: its messages.
type body struct {
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Reasoning string          `json:"reasoning_content"`
		Calls     []struct {
			Function struct {
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// sent lists the texts of a body in order, without the system prompt and the
// empty text beside calls.
func (b body) sent(t *testing.T) []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	for _, m := range b.Messages {
		if m.Role == "system" {
			continue
		}
		add(m.Reasoning)
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(m.Content, &text) == nil {
			add(text)
		} else {
			require.NoError(t, json.Unmarshal(m.Content, &parts))
			for _, p := range parts {
				add(p.Text)
			}
		}
		for _, c := range m.Calls {
			add(c.Function.Arguments)
		}
	}
	return out
}

// whole lists the texts of a request as they stand.
func whole(s *rollout.Session, r rollout.Request) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var out []string
	for _, sp := range spans {
		out = append(out, s.Texts[sp.Text].S)
	}
	return out
}

// TestRealBodies: every request of the two sessions, text by text, in order, as
// its recorded body. Title and compaction bodies are those the log has no
// payload of.
func TestRealBodies(t *testing.T) {
	f, err := os.Open(devdata.Dir(t, "api-log", "rec-opencode-compact.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var bodies [][]string
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 {
			break
		}
		var record struct {
			Request struct {
				Body body `json:"body"`
			} `json:"request"`
		}
		require.NoError(t, json.Unmarshal(line, &record))
		bodies = append(bodies, record.Request.Body.sent(t))
		if err != nil {
			break
		}
	}
	found, compactions := 0, 0
	for _, s := range sessionsOf(t, devdata.Dir(t, "opencode", "rec-compact.opencode.db")) {
		for _, r := range s.Requests {
			if r.Kind == rollout.KindCompaction {
				compactions++
				continue
			}
			got := whole(s, r)
			at := slices.IndexFunc(bodies, func(b []string) bool { return slices.Equal(b, got) })
			assert.GreaterOrEqual(t, at, 0, "request %d of %s was not sent like this", r.Number, s.ID)
			if at >= 0 {
				bodies = slices.Delete(bodies, at, at+1)
				found++
			}
		}
	}
	assert.Equal(t, 24, found)
	assert.Equal(t, 1, compactions)
	assert.Len(t, bodies, compactions+1, "what is left is the title and the compaction")
}

// TestForeignLogs: no log of another agent is taken for one of OpenCode.
func TestForeignLogs(t *testing.T) {
	looked := 0
	for _, folder := range []string{"atif", "claude", "codex", "copilot-cli", "freecode", "gemini-cli", "pi", "swe-agent", "api-log", "wire"} {
		err := filepath.WalkDir(devdata.Dir(t, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "opencode-") {
				return err
			}
			assert.False(t, Carrier(path), path)
			if head, err := logfile.Head(path, 20); err == nil {
				looked++
				assert.False(t, Detect(head), path)
			}
			return nil
		})
		require.NoError(t, err)
	}
	assert.Greater(t, looked, 50)
}
