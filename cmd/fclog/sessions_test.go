package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sub-agent's file comes with its session, and the home folder is shown as ~.
func TestSessionsLeaveOutFilesOfSubAgents(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := filepath.Join(h.dir, "logs", "main.jsonl")
	below := filepath.Join(h.dir, "logs", "main", "subagents", "agent-1.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(below), 0o755))
	for path, sidechain := range map[string]string{log: "false", below: "true"} {
		record := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"main","version":"2.1.0","cwd":"/p","isSidechain":` + sidechain +
			`,"timestamp":"2026-03-14T09:26:53.000Z","message":{"role":"user","content":"x"}}` + "\n"
		require.NoError(t, os.WriteFile(path, []byte(record), 0o644))
	}
	got := h.run("sessions", filepath.Join(h.dir, "logs"))
	require.Equal(t, 0, got.code, got.stderr)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 2, got.stdout)
	assert.True(t, strings.HasSuffix(lines[1], " ~/logs/main.jsonl"), lines[1])
}
