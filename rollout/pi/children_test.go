package pi

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sub-agent that ran a sub-agent of its own: both are sessions.
func TestSubAgentOfSubAgent(t *testing.T) {
	answer := func(results string) string {
		return `{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"subagent","arguments":{}}],"provider":"p","model":"m","usage":{"input":5,"output":1,"cacheRead":0,"cacheWrite":0},"stopReason":"toolUse","timestamp":1767225601000},` +
			`{"role":"toolResult","toolCallId":"x","toolName":"subagent","content":"ok","isError":false,"timestamp":1767225602000,"details":{"results":[` + results + `]}}`
	}
	leaf := `{"agent":"leaf","messages":[{"role":"assistant","content":[{"type":"text","text":"done"}],"provider":"p","model":"m","usage":{"input":7,"output":2,"cacheRead":0,"cacheWrite":0},"stopReason":"stop","timestamp":1767225601500}]}`
	middle := `{"agent":"middle","messages":[` + answer(leaf) + `]}`
	messages := strings.SplitN(answer(middle), `},{"role":"toolResult"`, 2)
	call := `{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-01T00:00:02.000Z","message":` + messages[0] + `}}`
	result := `{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult"` + messages[1] + `}`
	path := filepath.Join(t.TempDir(), "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join([]string{header, user1, call, result}, "\n")), 0o600))
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 3)
	assert.Empty(t, sessions[0].Problems)
	assert.Equal(t, []string{"s", "s/x/0", "s/x/0/x/0"}, []string{sessions[0].ID, sessions[1].ID, sessions[2].ID})
	assert.Equal(t, []string{"", "s", "s/x/0"}, []string{sessions[0].ParentID, sessions[1].ParentID, sessions[2].ParentID})
	assert.EqualValues(t, 7, *sessions[2].Requests[0].Usage.Input)
}
