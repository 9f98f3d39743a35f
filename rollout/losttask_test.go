package rollout_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestLostTask(t *testing.T) {
	for _, text := range []string{
		"Script error:\nexec cell 41 not found", "write_stdin failed: Unknown process id 12", "session not found", "Session 7 not found",
		"No task found with ID: ab12", "<tool_use_error>No task found with ID: ab12</tool_use_error>", "Error: No shell found with ID: 9", "Shell bash_9 not found",
		"No background shell bash_9 in this session.", "Invalid shell ID: 4. Please supply a valid shell ID.", "No process with PID 77", "Background process 77 does not exist.",
		"no such task exists", "Unknown session id s1",
	} {
		assert.True(t, rollout.LostTask(text), text)
	}
	for _, text := range []string{
		"", "ok", "(no new output since the last read)", "<status>completed</status>\nall tests pass", "page not found", "File not found: a.go",
		"ReferenceError: x is not defined", "no tasks left to do", "The process has ended", "stdin is closed",
		strings.Repeat("x", 300) + " exec cell 41 not found",
	} {
		assert.False(t, rollout.LostTask(text), text)
	}
}
