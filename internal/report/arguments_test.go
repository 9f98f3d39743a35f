package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"command":"git status"}`, "git status"},
		{`{"timeout":5,"command":"git status"}`, "git status"},
		{`{"command":["bash","-lc","git status -sb"],"workdir":"/x"}`, "git status -sb"},
		{`{"command":["git","status"]}`, "git status"},
		{`{"path":"/x","pattern":"a.*b"}`, "/x pattern=a.*b"},
		{`{"pattern":"a.*b","path":"/x"}`, "/x a.*b"},
		{`{"session_id":7,"chars":""}`, "session_id=7 chars="},
		{`{"plan":[{"step":"one"}]}`, `plan=[{"step":"one"}]`},
		{`*** Begin Patch`, `*** Begin Patch`},
		{`{"broken":`, `{"broken":`},
		{`{}`, ``},
		{`"text"`, `"text"`},
		{"", ""},
	} {
		assert.Equal(t, c.want, arguments(c.in), c.in)
	}
}
