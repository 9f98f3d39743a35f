package claudecode

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

// A poll of a task that is not there is no completion; words of a task are no
// answer about it.
func TestLostPolls(t *testing.T) {
	for _, c := range []struct {
		text   string
		failed bool
		want   rollout.PollClass
	}{
		{"<tool_use_error>No task found with ID: b1</tool_use_error>", true, rollout.PollLost},
		{"Shell b1 not found", true, rollout.PollLost},
		{"Task b1 not found", true, rollout.PollLost},
		{"<status>failed</status>\n<exit_code>1</exit_code>\n<stdout>session 4 not found</stdout>", false, rollout.PollFinal},
		{"<status>running</status>\n<stdout>No task found with ID: b1</stdout>", false, rollout.PollProgress},
		{"<tool_use_error>InputValidationError: block is required</tool_use_error>", true, rollout.PollUnknown},
	} {
		call := rollout.Call{Class: rollout.PollTool, Poll: rollout.PollUnknown, Task: "b1"}
		rb := rebuild{polled: map[string]string{}, ended: map[string]bool{}}
		rb.pollResult(&call, c.text, c.failed)
		assert.Equal(t, c.want, call.Poll, c.text)
	}
}
