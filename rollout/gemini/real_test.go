package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
)

// counted finds, in any JSON value, the objects with an ID and token counts, and
// keeps the counts by ID: each answer once, however often it is written.
func counted(v any, by map[string]map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			counted(e, by)
		}
	case map[string]any:
		if id, ok := v["id"].(string); ok && v["type"] == "gemini" {
			if t, ok := v["tokens"].(map[string]any); ok {
				by[id] = t
			}
		}
		for _, e := range v {
			counted(e, by)
		}
	}
}

// TestRealTotals: the sums of the real files, counted by walking all of their
// JSON.
func TestRealTotals(t *testing.T) {
	for _, name := range []string{"rec-main.session.jsonl", "rec-resume-stub.session.jsonl", "rec-subagent.jsonl", "vct-a.session.json", "vct.session.jsonl"} {
		path := devdata.Dir(t, "gemini-cli", name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		by := map[string]map[string]any{}
		var whole any
		if json.Unmarshal(data, &whole) == nil {
			counted(whole, by)
		} else {
			lines := bufio.NewScanner(bytes.NewReader(data))
			lines.Buffer(nil, len(data))
			for lines.Scan() {
				var v any
				require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
				counted(v, by)
			}
		}
		var want totals
		for _, tok := range by {
			n := func(key string) int64 { f, _ := tok[key].(float64); return int64(f) }
			want.requests++
			want.input += n("input")
			want.cacheRead += n("cached")
			want.output += n("output") + n("thoughts")
			want.reasoning += n("thoughts")
		}
		s := readOne(t, path)
		got := total(s)
		want.answered, want.calls = want.requests, got.calls
		assert.Equal(t, want, got, name)
		assert.Empty(t, s.Problems, name)
	}
}
