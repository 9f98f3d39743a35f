package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManyLogs: a temporary dataset of many parts is merged on the way, which shows
// in nothing. Every copy of the log has the totals of the one: 2 requests, 2,100
// tokens.
func TestManyLogs(t *testing.T) {
	const n = 70
	h := newHome(t)
	logs := filepath.Join(h.dir, "logs")
	log := read(t, testdata("bad", "good.jsonl"))
	const id = "bad-input" // of the session
	require.Contains(t, log, id)
	for i := range n {
		mustWrite(t, filepath.Join(logs, fmt.Sprintf("s%03d.jsonl", i)), strings.ReplaceAll(log, id, fmt.Sprintf("%s-%03d", id, i)))
	}
	got := h.run("query", logs, "SELECT count(DISTINCT session_id) AS sessions, count(*) AS requests, sum(input_tokens) AS input FROM requests", "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, fmt.Sprintf("sessions,requests,input\n%d,%d,%d\n", n, 2*n, 2100*n), got.stdout)

	got = h.run("audit", logs, "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var a struct{ Totals map[string]any }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
	assert.EqualValues(t, 2100*n, a.Totals["input_tokens"])
}

// Without HOME there is no place to look, and that is what is said.
func TestNoHome(t *testing.T) {
	h := newHome(t)
	for _, command := range []string{"audit", "sessions"} {
		cmd := h.command(t.Context(), command)
		cmd.Env = []string{"TMPDIR=" + h.temp, "TMP=" + h.temp, "TEMP=" + h.temp}
		out, _ := cmd.CombinedOutput()
		assert.Equal(t, 3, cmd.ProcessState.ExitCode())
		assert.Contains(t, string(out), "HOME is not set")
	}
}
