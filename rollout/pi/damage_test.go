package pi

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

const (
	header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	user1  = `{"type":"message","id":"u1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}`
	reply1 = `{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"api":"x","provider":"p","model":"m","usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","timestamp":1767225601000,"responseId":"r1"}}`
	user2  = `{"type":"message","id":"u2","parentId":"a1","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"three"}}`
	reply2 = `{"type":"message","id":"a2","parentId":"u2","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"four"}],"api":"x","provider":"p","model":"m","usage":{"input":15,"output":3,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","timestamp":1767225603000,"responseId":"r2"}}`
)

func readText(t require.TestingT, lines ...string) (*rollout.Session, error) {
	dir, err := os.MkdirTemp("", "pi")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "2026-01-01T00-00-00-000Z_s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	sessions, err := Read(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return sessions[0], nil
}

func problems(s *rollout.Session) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, p.Kind)
	}
	slices.Sort(out)
	return out
}

func TestDamage(t *testing.T) {
	whole := []string{"user_text: one", "assistant_text: two", "user_text: three"}
	for name, c := range map[string]struct {
		lines    []string
		payload  []string // of the last request
		problems []string
	}{
		"whole":               {[]string{header, user1, reply1, user2, reply2, ""}, whole, nil},
		"cut line":            {[]string{header, user1, reply1, user2, reply2, user1[:40]}, whole, []string{"cut-line"}},
		"line lost":           {[]string{header, user1, reply1, "{", user2, reply2}, whole, []string{"bad-json"}},
		"zeros at the end":    {[]string{header, user1, reply1, user2, reply2, strings.Repeat("\x00", 9000)}, whole, []string{"nul-bytes"}},
		"unknown type":        {[]string{header, user1, reply1, `{"type":"aside","id":"x","parentId":"a1","timestamp":""}`, strings.Replace(user2, `"a1"`, `"x"`, 1), reply2}, whole, []string{"unknown-record"}},
		"unknown role":        {[]string{header, user1, reply1, user2, `{"type":"message","id":"x","parentId":"u2","message":{"role":"ghost","content":"boo"}}`, strings.Replace(reply2, `"u2"`, `"x"`, 1)}, whole, []string{"unknown-record"}},
		"parent lost":         {[]string{header, user1, reply1, strings.Replace(user2, `"a1"`, `"nowhere"`, 1), reply2}, whole, []string{"missing-parent"}},
		"parent in itself":    {[]string{header, user1, reply1, strings.Replace(user2, `"a1"`, `"u2"`, 1), reply2}, whole, []string{"missing-parent"}},
		"cycle":               {[]string{header, strings.Replace(user1, "null", `"a1"`, 1), reply1, user2, reply2}, whole, []string{"missing-parent"}},
		"entry twice":         {[]string{header, user1, reply1, reply1, user2, reply2}, whole, []string{"duplicate-record"}},
		"ID used twice":       {[]string{header, user1, reply1, strings.Replace(user2, `"u2"`, `"u1"`, 1), strings.Replace(reply2, `"u2"`, `"u1"`, 1)}, whole, nil},
		"negative count":      {[]string{header, user1, reply1, user2, strings.Replace(reply2, `"input":15`, `"input":-15`, 1)}, whole, []string{"usage-inconsistent"}},
		"absurd count":        {[]string{header, user1, reply1, user2, strings.Replace(reply2, `"input":15`, `"input":1e30`, 1)}, whole, []string{"usage-inconsistent"}},
		"no header":           {[]string{user1, reply1, user2, reply2}, whole, []string{"no-header"}},
		"two headers":         {[]string{header, user1, reply1, header, user2, reply2}, whole, []string{"extra-header"}},
		"blanks after colons": {[]string{header, user1, reply1, strings.ReplaceAll(user2, ":", ": "), reply2}, whole, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readText(t, c.lines...)
			require.NoError(t, err)
			require.Len(t, s.Requests, 2)
			assert.Equal(t, c.payload, texts(s, 1))
			assert.Equal(t, c.problems, problems(s))
			assert.Equal(t, "s", s.ID)
		})
	}
}

func TestLoneSurrogateIsReplaced(t *testing.T) {
	s, err := readText(t, header, strings.Replace(user1, `"one"`, `"o\ud83dne"`, 1), reply1)
	require.NoError(t, err)
	assert.Equal(t, []string{"user_text: o\uFFFDne"}, texts(s, 0))
}

// Some servers give every response the same ID: they are requests all the same.
func TestOneIDForAllResponses(t *testing.T) {
	s, err := readText(t, header, user1, reply1, user2, strings.Replace(reply2, `"r2"`, `"r1"`, 1))
	require.NoError(t, err)
	assert.Equal(t, []string{"r1", "a2@1767225603000"}, []string{s.Requests[0].ID, s.Requests[1].ID})
}

// A branch that begins before the compaction carries what the compaction cut.
func TestBranchBeforeCompaction(t *testing.T) {
	compact := `{"type":"compaction","id":"k","parentId":"a1","timestamp":"2026-01-01T00:00:02.500Z","summary":"sum","firstKeptEntryId":"gone","tokensBefore":5}`
	other := strings.NewReplacer(`"u2"`, `"u3"`, "three", "five").Replace(user2)
	third := strings.NewReplacer(`"a2"`, `"a3"`, `"u2"`, `"u3"`, `"r2"`, `"r3"`).Replace(reply2)
	s, err := readText(t, header, user1, reply1, compact, other, third, strings.Replace(user2, `"a1"`, `"k"`, 1), reply2)
	require.NoError(t, err)
	require.Len(t, s.Requests, 3)
	assert.Equal(t, []string{"user_text: one", "assistant_text: two", "user_text: five"}, texts(s, 1))
	assert.Equal(t, []string{"summary: " + summaryOpening + "sum" + summaryClosing, "user_text: three"}, texts(s, 2), "what is kept is not on the path")
	assert.Equal(t, []int{0, 1, 0}, []int{s.Requests[0].Chain, s.Requests[1].Chain, s.Requests[2].Chain})
}

func TestDetect(t *testing.T) {
	heads := func(lines ...string) (out [][]byte) {
		for _, l := range lines {
			out = append(out, []byte(l))
		}
		return out
	}
	assert.True(t, Detect(heads(header, user1)))
	assert.False(t, Detect(heads(header)), "other agents begin like this")
	assert.False(t, Detect(heads(header, `{"type":"message","text":"x"}`)))
	assert.False(t, Detect(heads(user1, reply1)))
	assert.False(t, Detect(nil))
}

func TestHomes(t *testing.T) {
	env := map[string]string{"HOME": "/h"}
	get := func(k string) string { return env[k] }
	assert.Equal(t, []string{filepath.Join("/h", ".pi", "agent", "sessions")}, Homes(get))
	env["PI_CODING_AGENT_DIR"] = "/p"
	assert.Equal(t, []string{filepath.Join("/p", "sessions")}, Homes(get))
	env["PI_CODING_AGENT_SESSION_DIR"] = "/s"
	assert.Equal(t, []string{"/s", filepath.Join("/p", "sessions")}, Homes(get))
}

func TestNoLog(t *testing.T) {
	for _, text := range []string{"", "\x00\x00", "[1]"} {
		_, err := readText(t, text)
		assert.ErrorIs(t, err, logfile.ErrNotLog, "%q", text)
	}
}

// TestRealTotals counts every assistant message of the real files in another
// way: by plain decoding, without the tree.
func TestRealTotals(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(devdata.Dir(t, "pi"), "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var requests, calls int
		var input, output int64
		for dec := json.NewDecoder(strings.NewReader(string(raw))); dec.More(); {
			var e map[string]any
			require.NoError(t, dec.Decode(&e))
			m, _ := e["message"].(map[string]any)
			if m["role"] != "assistant" {
				continue
			}
			requests++
			u := m["usage"].(map[string]any)
			input += int64(u["input"].(float64) + u["cacheRead"].(float64) + u["cacheWrite"].(float64))
			output += int64(u["output"].(float64))
			for _, p := range m["content"].([]any) {
				if p.(map[string]any)["type"] == "toolCall" && m["stopReason"] != "error" && m["stopReason"] != "aborted" {
					calls++
				}
			}
		}
		s := read(t, path)
		got, in, _, _, out := sum(s)
		assert.Equal(t, requests, got, path)
		assert.Equal(t, []int64{input, output}, []int64{in, out}, path)
		assert.Len(t, s.Calls, calls, path)
		assert.Empty(t, s.Problems, path)
	}
}

func onlyNoLog(t require.TestingT, err error) {
	if err != nil {
		require.ErrorIs(t, err, logfile.ErrNotLog)
	}
}

// Lines swapped, repeated, lost and tied to other parents.
func TestShuffledLines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.jsonl"))
	require.NoError(t, err)
	var seeds [][]string
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		seeds = append(seeds, strings.Split(string(raw), "\n"))
	}
	rapid.Check(t, func(r *rapid.T) {
		lines := slices.Clone(rapid.SampledFrom(seeds).Draw(r, "file"))
		for range rapid.IntRange(1, 8).Draw(r, "edits") {
			i := rapid.IntRange(0, len(lines)-1).Draw(r, "line")
			j := rapid.IntRange(0, len(lines)-1).Draw(r, "other")
			switch rapid.IntRange(0, 3).Draw(r, "edit") {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines = slices.Insert(lines, i, lines[j])
			case 2:
				lines[i] = ""
			case 3:
				lines[i] = strings.Replace(lines[i], parentOf(lines[i]), parentOf(lines[j]), 1)
			}
		}
		_, err := readText(r, lines...)
		onlyNoLog(r, err)
	})
}

func parentOf(line string) string {
	_, after, _ := strings.Cut(line, `"parentId":`)
	value, _, _ := strings.Cut(after, ",")
	return `"parentId":` + value
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join(fixtures, "*.jsonl"))
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(strings.Join([]string{header, user1, reply1, user2, reply2}, "\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, err := Read(context.Background(), path)
		onlyNoLog(t, err)
	})
}
