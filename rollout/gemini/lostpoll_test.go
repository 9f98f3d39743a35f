package gemini

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

// What a background process prints is no word on whether it is there.
func TestLostPolls(t *testing.T) {
	for text, want := range map[string]rollout.PollClass{
		"No background processes found.":                        rollout.PollLost,
		"Background process 77 not found.":                      rollout.PollLost,
		"- [PID 77] RUNNING: `make`":                            rollout.PollEmpty,
		"- [PID 77] EXITED: `make` (Exit Code: 1)":              rollout.PollFinal,
		"GET /index 200\nGET /icon 404 session not found\nidle": rollout.PollProgress,
		"GET /icon 404 page not found":                          rollout.PollProgress,
	} {
		c := &chat{polls: map[string]string{}}
		call := rollout.Call{Class: rollout.PollTool, Task: "77", Poll: rollout.PollUnknown}
		assert.Equal(t, want, c.polled(&call, text), text)
	}
}
