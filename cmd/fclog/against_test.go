package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func againstFile(name string) string { return filepath.Join("..", "..", "testdata", "against", name) }

// The numbers are counted in testdata/against/README.md.
func TestPayloadAgainst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log, wire, bodies := againstFile("codex.jsonl"), againstFile("wire-summary.jsonl"), againstFile("bodies.jsonl")
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr []string
		not            string // not in the output
	}{
		{"summary", []string{"--against", wire}, 0, []string{
			"3 requests of 4 compared. 84.90 % of the 106 tokens", "Order kept in 3 of 3", "Usage equal in 3 of 3",
			"different  shell · results     8      11", "missing    reminders           9       5", "1      74  no answer came"}, nil, ""},
		{"bodies", []string{"--against", bodies}, 0, []string{"3 requests of 4 compared.", "different  shell · results     8      17         1    35"}, nil, "a - b"},
		{"text on request", []string{"--against", bodies, "--with-text"}, 0, []string{"a + b + 1", "a - b + 1"}, nil, ""},
		{"one request", []string{"--against", wire, "--request", "2"}, 0, []string{"1 request of 4 compared. 100.00 % of the 33 tokens"}, nil, "different  shell"},
		{"a folder of bodies", []string{"--against", filepath.Dir(wire)}, 0, []string{"3 requests of 8 compared."}, nil, ""},
		{"Markdown", []string{"--against", wire, "--format", "md"}, 0, []string{"**84.90 %** of the 106 tokens", "| 3 | turn | 10:00:08 | 6 | 1 | 0 | 1 | 0 | 58 | 42 | 41 |"}, nil, ""},
		{"selection", []string{"--against", wire, "--session", "019f1000", "--agent", "codex"}, 0, []string{"3 requests of 4"}, nil, ""},
		{"another session", []string{"--against", wire, "--session", "x"}, 3, nil, []string{"matches the selection"}, ""},
		{"another request", []string{"--against", wire, "--request", "9"}, 3, nil, []string{"no such request in both"}, ""},
		{"not bodies", []string{"--against", log}, 3, nil, []string{"no request bodies found", "a log of Codex"}, ""},
		{"no such file", []string{"--against", "gone"}, 1, nil, []string{"cannot read gone"}, ""},
		{"text of nothing", []string{"--with-text"}, 2, nil, []string{"--with-text goes with --against"}, ""},
		{"Markdown of nothing", []string{"--format", "md"}, 2, nil, []string{"--format md goes with --against"}, ""},
		{"a flag that does not go", []string{"--against", wire, "--since", "7d"}, 2, nil, []string{"--since does not go with --against"}, ""},
		{"output over the bodies", []string{"--against", wire, "-o", wire}, 2, nil, []string{"is read here"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := h.run(append([]string{"payload", log, "--width", "120"}, c.args...)...)
			assert.Equal(t, c.code, got.code, got.stderr)
			for _, want := range c.stdout {
				assert.Contains(t, unwrapped(got.stdout), want)
			}
			for _, want := range c.stderr {
				assert.Contains(t, got.stderr, want)
			}
			if c.not != "" {
				assert.NotContains(t, got.stdout, c.not)
			}
		})
	}
}

// unwrapped joins the lines of prose, so that tests need not know where they end.
func unwrapped(s string) string { return strings.ReplaceAll(s, "\n  ", " ") + s }

func TestPayloadAgainstAsJSON(t *testing.T) {
	t.Parallel()
	got := newHome(t).run("payload", againstFile("codex.jsonl"), "--against", againstFile("bodies.jsonl"), "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var out struct {
		SchemaVersion int `json:"schema_version"`
		Sent          int `json:"sent_requests"`
		Sessions      []struct {
			Requests []struct {
				Equal, Missing, Extra, Different, Moved int
				By                                      string `json:"paired_by"`
				Differences                             []struct {
					Change, Tool string
					Position     int
					At           *int
				}
			}
		}
		NotLogged []struct{ Why string } `json:"not_logged"`
		NotSent   []any                  `json:"not_sent"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	assert.Equal(t, []int{1, 4, 1}, []int{out.SchemaVersion, out.Sent, len(out.Sessions)})
	requests := out.Sessions[0].Requests
	require.Len(t, requests, 3)
	for i, want := range [][]int{{3, 0, 0}, {5, 0, 0}, {6, 1, 1}} {
		assert.Equal(t, want, []int{requests[i].Equal, requests[i].Missing, requests[i].Different})
	}
	first := requests[2].Differences[0]
	require.NotNil(t, first.At)
	assert.Equal(t, []any{"different", "shell", 8, 34}, []any{first.Change, first.Tool, first.Position, *first.At}, "34 characters stand before the minus")
	require.Len(t, out.NotLogged, 1)
	assert.Equal(t, "failed", out.NotLogged[0].Why)
	assert.NotNil(t, out.NotSent, "an empty list, not null")
}

func TestPayloadAgainstOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	whole, err := os.ReadFile(againstFile("wire-summary.jsonl"))
	require.NoError(t, err)
	for _, c := range []struct{ name, old, new, want string }{
		{"another model", "gpt-5.3-codex", "mini", "they are of other models"},
		{"another day", "2026-11-02", "2026-10-01", "the log is of 2026-11-02 10:00, the bodies of 2026-10-01 10:00"},
	} {
		bodies := filepath.Join(t.TempDir(), "wire.jsonl")
		text := strings.ReplaceAll(string(whole), c.old, c.new)
		for _, usage := range []string{`"input_tokens":61,`, `"input_tokens":97,`, `"input_tokens":144,`} {
			text = strings.ReplaceAll(text, usage, `"input_tokens":7,`)
		}
		text = strings.ReplaceAll(text, "019f1000-0000-7000-8000-000000000001", "another")
		text = strings.ReplaceAll(text, `"status":200`, `"status":500`)
		require.NoError(t, os.WriteFile(bodies, []byte(text), 0o600))
		got := h.run("payload", againstFile("codex.jsonl"), "--against", bodies)
		assert.Equal(t, 3, got.code, c.name)
		assert.Contains(t, got.stderr, "none of 3 requests in the log is one of 4 requests in the bodies: "+c.want)
	}
}

// Text of logs and bodies cannot act on the terminal.
func TestPayloadAgainstHostileText(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(againstFile("bodies.jsonl"))
	require.NoError(t, err)
	bodies := filepath.Join(t.TempDir(), "bodies.jsonl")
	require.NoError(t, os.WriteFile(bodies, []byte(strings.ReplaceAll(string(whole), "a - b", `\u001b[31m\u202e`)), 0o600))
	for _, format := range []string{"term", "md", "json"} {
		got := newHome(t).run("payload", againstFile("codex.jsonl"), "--against", bodies, "--with-text", "--format", format)
		require.Equal(t, 0, got.code, got.stderr)
		assert.NotContains(t, got.stdout, "\x1b[31m")
		assert.NotContains(t, got.stdout, "\u202e")
	}
}
