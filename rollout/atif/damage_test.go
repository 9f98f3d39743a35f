package atif

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

func readText(t testing.TB, text string) ([]*rollout.Session, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Read(context.Background(), path)
}

const head = `{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1","model_name":"m"},`

func TestDamage(t *testing.T) {
	step := func(metrics string) string {
		return `{"step_id":1,"source":"agent","message":"hi","metrics":` + metrics + `}`
	}
	for name, c := range map[string]struct {
		text     string
		requests int
		kinds    []string
	}{
		"no steps":              {head + `"notes":"x"}`, 0, nil},
		"steps of another kind": {head + `"steps":{"a":1}}`, 0, nil},
		"odd steps":             {head + `"steps":[1,"x",null,[],` + step(`{"prompt_tokens":5,"completion_tokens":1}`) + `]}`, 1, []string{"bad-record"}},
		"cut":                   {head + `"steps":[` + step(`{"prompt_tokens":5}`) + `,{"step_id":2,"sour`, 1, []string{"cut-line"}},
		"broken":                {head + `"steps":[` + step(`{"prompt_tokens":5}`) + `,}]}`, 1, []string{"bad-json"}},
		"NUL tail":              {head + `"steps":[` + step(`{"prompt_tokens":5}`) + `]}` + strings.Repeat("\x00", 900), 1, []string{"nul-bytes"}},
		"negative":              {head + `"steps":[` + step(`{"prompt_tokens":-5,"completion_tokens":3}`) + `]}`, 1, []string{"usage-inconsistent"}},
		"absurd":                {head + `"steps":[` + step(`{"prompt_tokens":9e18,"completion_tokens":3}`) + `]}`, 1, []string{"usage-inconsistent"}},
		"metrics of zeros":      {head + `"steps":[` + step(`{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0}`) + `]}`, 1, []string{"requests-estimated"}},
		"absurd cost":           {head + `"steps":[` + step(`{"prompt_tokens":5,"cost_usd":-1}`) + `]}`, 1, []string{"bad-number"}},
		"absurd totals":         {head + `"steps":[],"final_metrics":{"total_prompt_tokens":-1,"total_completion_tokens":1e300,"total_cost_usd":1e300}}`, 0, []string{"usage-inconsistent"}},
		"odd members":           {head + `"steps":[{"source":7,"message":{"a":[1]},"tool_calls":[3],"observation":{"results":[4]}},{"source":"agent","tool_calls":[{"arguments":[1]},{"arguments":null},null]}],"subagent_trajectories":[1,{}]}`, 1, []string{"unknown-record", "bad-record", "bad-record", "requests-estimated"}},
		"result without call":   {head + `"steps":[{"source":"agent","message":"x","metrics":{"prompt_tokens":1},"observation":{"results":[{"source_call_id":"no","content":"y"}]}}]}`, 1, []string{"result-without-call"}},
		"two documents":         {head + `"steps":[]}` + "\n" + head + `"steps":[]}`, 0, nil},
		"a list":                {"[" + head + `"steps":[]}` + "]", 0, nil},
	} {
		sessions, err := readText(t, c.text)
		require.NoError(t, err, name)
		assert.Len(t, sessions[0].Requests, c.requests, name)
		assert.Equal(t, c.kinds, kinds(sessions[0]), name)
	}
	for name, text := range map[string]string{"other": `{"schema_version":1}`, "text": "hello", "list": "[1]"} {
		_, err := readText(t, text)
		assert.ErrorIs(t, err, logfile.ErrNotLog, name)
	}
}

// TestResultsWithoutIDs: a screen for all key strokes of a step belongs to the
// last, and all of them ran.
func TestResultsWithoutIDs(t *testing.T) {
	sessions, err := readText(t, head+`"steps":[{"source":"agent","tool_calls":[
		{"tool_call_id":"k1","function_name":"bash_command","arguments":{"keystrokes":"ls\n"}},
		{"tool_call_id":"k2","function_name":"bash_command","arguments":{"keystrokes":"pwd\n"}}],
		"observation":{"results":[{"content":"screen"}]},"metrics":{"prompt_tokens":5}}]}`)
	require.NoError(t, err)
	s := sessions[0]
	assert.True(t, s.Calls[0].Ran && s.Calls[1].Ran)
	assert.Equal(t, -1, s.Calls[0].ResultItem)
	assert.NotEqual(t, -1, s.Calls[1].ResultItem)
	assert.Equal(t, "ls\n", s.Calls[0].Command)
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		`{"schema_version":"ATIF-v1.0"}`: true,
		`{"schema_version":1}`:           false,
		`{"trial_name":"x","task_name":"y","agent_info":{},"verifier_result":{}}`: false,
		`{"sessionId":"x","type":"user"}`:                                         false,
		`[1]`:                                                                     false,
		`{"note":"\"schema_version\":\"ATIF-v1.0\""}`:                             false,
	} {
		assert.Equal(t, want, Detect([][]byte{[]byte(text)}), text)
	}
	assert.False(t, Detect(nil))
}

// TestSidechain: steps of a Claude Code sub-agent stand on a chain of their own.
func TestSidechain(t *testing.T) {
	sessions, err := readText(t, head+`"steps":[
		{"source":"user","message":"go"},
		{"source":"agent","message":"a","metrics":{"prompt_tokens":10}},
		{"source":"user","message":"look","extra":{"is_sidechain":true}},
		{"source":"agent","message":"b","metrics":{"prompt_tokens":3},"extra":{"is_sidechain":true}},
		{"source":"agent","message":"c","metrics":{"prompt_tokens":12}}]}`)
	require.NoError(t, err)
	var chains []int
	for _, r := range sessions[0].Requests {
		chains = append(chains, r.Chain)
	}
	assert.Equal(t, []int{0, 1, 0}, chains)
	assert.Equal(t, []string{"user_text", "assistant_text"}, carried(sessions[0], 2))
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	require.NoError(f, err)
	more, err := filepath.Glob(filepath.Join(fixtures, "runs", "*", "*", "agent", "*.json"))
	require.NoError(f, err)
	for _, file := range append(files, more...) {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
		f.Add(bytes.ReplaceAll(raw, []byte("0"), []byte("-9e15")))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(dir, "x.json")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		sessions, err := Read(context.Background(), path)
		if err != nil {
			assert.NotContains(t, err.Error(), "atif reader", "a fault of the reader")
			return
		}
		for _, s := range sessions {
			require.NoError(t, rollout.Check(s))
		}
	})
}

// TestDocumentTwiceInAFileCountsOnce: two copies of a run behind each other are one
// run; another run of the same ID stays one of its own.
func TestDocumentTwiceInAFileCountsOnce(t *testing.T) {
	run := func(prompt int) string {
		return fmt.Sprintf(`{"schema_version":"ATIF-v1.4","session_id":"run-1","agent":{"name":"demo","version":"1"},"steps":[`+
			`{"step_id":1,"source":"user","message":"go"},`+
			`{"step_id":2,"source":"agent","message":"done","metrics":{"prompt_tokens":%d,"completion_tokens":5}}]}`, prompt)
	}
	for _, c := range []struct {
		text     string
		sessions int
	}{
		{run(100) + "\n" + run(100) + "\n", 1},
		{run(100) + run(100), 1},
		{"[" + run(100) + ",\n" + run(100) + "]", 1},
		{run(100) + "\n" + run(200), 2},
	} {
		sessions, err := readText(t, c.text)
		require.NoError(t, err)
		assert.Len(t, sessions, c.sessions)
		assert.EqualValues(t, 100, *sessions[0].Requests[0].Usage.Input)
	}
}
