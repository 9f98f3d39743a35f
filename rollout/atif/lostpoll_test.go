package atif

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestLostPolls(t *testing.T) {
	for _, c := range []struct {
		text, body, running, code string
		want                      rollout.PollClass
	}{
		{"No task found with ID: b1", "No task found with ID: b1", "", "", rollout.PollLost},
		{"write_stdin failed: stdin is closed", "write_stdin failed: stdin is closed", "", "", rollout.PollLost},
		{"Script failed\nOutput:\nScript error:\nexec cell 4 not found", "Script error:\nexec cell 4 not found", "", "", rollout.PollLost},
		{"Process exited with code 1\nOutput:\nsession 4 not found", "session 4 not found", "", "1", rollout.PollFinal},
		{"Process running with session ID 7\nOutput:\nsession 4 not found", "session 4 not found", "7", "", rollout.PollProgress},
		{"<status>completed</status>\ntask 3 not found", "<status>completed</status>\ntask 3 not found", "", "", rollout.PollFinal},
	} {
		assert.Equal(t, c.want, pollClass(c.text, c.body, c.running, c.code), c.text)
	}
}
