package copilot

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

// A poll that fails has lost its task only where it says so.
func TestLostPolls(t *testing.T) {
	a := &agent{shells: map[string]string{}}
	call := rollout.Call{Class: rollout.PollTool, Tool: "read_bash", Task: "s1"}
	assert.Equal(t, rollout.PollLost, a.poll(&call, "Invalid shell ID: s1. Please supply a valid shell ID to read output from.", true))
	assert.Equal(t, rollout.PollUnknown, a.poll(&call, "delay: expected a number", true))
	assert.Equal(t, rollout.PollFinal, a.poll(&call, "session 4 not found\n<shellId: s1 completed with exit code 1>", false))
}
