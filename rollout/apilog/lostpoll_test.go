package apilog

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestLostPolls(t *testing.T) {
	for text, want := range map[string]rollout.PollClass{
		"Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nexec cell 4 not found": rollout.PollLost,
		"No background shell bash_2 in this session.":                                         rollout.PollLost,
		"<tool_use_error>No task found with ID: b1</tool_use_error>":                          rollout.PollLost,
		"write_stdin failed: Unknown process id 9":                                            rollout.PollLost,
		"session not found": rollout.PollLost,
		"<status>completed</status>\nsession 3 not found":                 rollout.PollFinal,
		"Process exited with code 1\nOutput:\ntask 3 not found":           rollout.PollFinal,
		"Process running with session ID 9\nOutput:\nsession 3 not found": rollout.PollProgress,
	} {
		assert.Equal(t, want, pollClass(text), text)
	}
}
