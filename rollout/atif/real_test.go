package atif

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// rawDoc decodes a trajectory in another way than the reader: as a tree of maps.
func rawDoc(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var d map[string]any
	require.NoError(t, json.Unmarshal(raw, &d))
	return d
}

func number(m map[string]any, keys ...string) int64 {
	for i, k := range keys {
		if i == len(keys)-1 {
			f, _ := m[k].(float64)
			return int64(f)
		}
		m, _ = m[k].(map[string]any)
	}
	return 0
}

// responses are the metrics of a trajectory, each run of adjacent equal ones once.
func responses(d map[string]any) []map[string]any {
	var out []map[string]any
	var last any
	for _, s := range d["steps"].([]any) {
		m := s.(map[string]any)["metrics"]
		if m != nil && !reflect.DeepEqual(m, last) {
			out = append(out, m.(map[string]any))
		}
		last = m
	}
	return out
}

func readOne(t *testing.T, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.NotEmpty(t, sessions)
	return sessions[0]
}

func usageSums(s *rollout.Session) (input, read, write, output int64) {
	for _, r := range s.Requests {
		input, read = input+value(r.Usage.Input), read+value(r.Usage.CacheRead)
		write, output = write+value(r.Usage.CacheWrite), output+value(r.Usage.Output)
	}
	return input, read, write, output
}

// TestRealClaudeConverter: prompt leaves out cache writes, every fragment repeats
// the metrics, and final_metrics adds the repeats up.
func TestRealClaudeConverter(t *testing.T) {
	path := devdata.Dir(t, "atif", "raidar-claude-smoke-b.trajectory.json")
	d, s := rawDoc(t, path), readOne(t, path)
	var input, read, write, output int64
	all := responses(d)
	for _, m := range all {
		input += number(m, "prompt_tokens") + number(m, "extra", "cache_creation_input_tokens")
		read += number(m, "cached_tokens")
		write += number(m, "extra", "cache_creation_input_tokens")
		output += number(m, "completion_tokens")
	}
	assert.Len(t, s.Requests, len(all))
	gotInput, gotRead, gotWrite, gotOutput := usageSums(s)
	assert.Equal(t, []int64{input, read, write, output}, []int64{gotInput, gotRead, gotWrite, gotOutput})
	for _, r := range s.Requests {
		assert.False(t, r.OutputFinal, "the output is that of the stream's start")
	}
	assert.Contains(t, kinds(s), "totals-disagree")
	for _, it := range s.Items {
		text := s.Texts[it.Text].S
		assert.NotContains(t, text, "[metadata] {")
		assert.False(t, strings.HasPrefix(text, "Executed "), "an invented message")
		if it.Kind == rollout.ToolResult {
			assert.Equal(t, rollout.Logged, it.Origin, "the true text is kept beside every result")
		}
	}
}

// TestRealExclusive: the prompt of serf is what no cache served.
func TestRealExclusive(t *testing.T) {
	path := devdata.Dir(t, "atif", "serf-v1.7.trajectory.json")
	d, s := rawDoc(t, path), readOne(t, path)
	var input, read, write, output int64
	all := responses(d)
	for _, m := range all {
		w := number(m, "extra", "cache_write_tokens")
		input += number(m, "prompt_tokens") + number(m, "cached_tokens") + w
		read, write, output = read+number(m, "cached_tokens"), write+w, output+number(m, "completion_tokens")
	}
	assert.Len(t, s.Requests, len(all))
	gotInput, gotRead, gotWrite, gotOutput := usageSums(s)
	assert.Equal(t, []int64{input, read, write, output}, []int64{gotInput, gotRead, gotWrite, gotOutput})
	require.Len(t, s.Reported, 1)
	assert.Nil(t, s.Reported[0].Usage.Input, "the totals do not give the cache writes")
	assert.Equal(t, number(d, "final_metrics", "total_cached_tokens"), *s.Reported[0].Usage.CacheRead)
	assert.NotContains(t, kinds(s), "totals-disagree")
	assert.NotContains(t, s.Missing, "system prompt")
}

// TestRealCodexConverter: no usage per step, totals for the run alone.
func TestRealCodexConverter(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(devdata.Dir(t, "atif"), "raidar-codex-*.trajectory.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		d, s := rawDoc(t, path), readOne(t, path)
		steps := 0
		for _, each := range d["steps"].([]any) {
			if each.(map[string]any)["source"] == "agent" {
				steps++
			}
		}
		assert.LessOrEqual(t, len(s.Requests), steps, path)
		assert.Greater(t, len(s.Requests), steps/2, path)
		for _, r := range s.Requests {
			assert.Equal(t, rollout.Usage{}, r.Usage)
			assert.Equal(t, "gpt-5.2-codex", r.Model)
		}
		require.Len(t, s.Reported, 1)
		u := s.Reported[0].Usage
		assert.Equal(t, number(d, "final_metrics", "total_prompt_tokens"), *u.Input)
		assert.Equal(t, number(d, "final_metrics", "total_cached_tokens"), *u.CacheRead)
		assert.Equal(t, number(d, "final_metrics", "total_completion_tokens"), *u.Output)
		assert.Equal(t, number(d, "final_metrics", "extra", "reasoning_output_tokens"), *u.Reasoning)
		assert.Nil(t, s.Reported[0].CostUSD)
		assert.Contains(t, kinds(s), "requests-estimated")
		assert.Contains(t, s.Missing, "usage per request")
		polls := 0
		for _, c := range s.Calls {
			assert.True(t, c.Ran, "%s %s", path, c.ID)
			if c.Class == rollout.PollTool {
				polls++
				assert.NotEqual(t, rollout.PollUnknown, c.Poll)
			}
		}
		assert.Positive(t, polls)
	}
}

func kinds(s *rollout.Session) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, p.Kind)
	}
	return out
}
