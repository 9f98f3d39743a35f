package shellcmd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout/shellcmd"
)

func TestEffect(t *testing.T) {
	for _, c := range []struct {
		command           string
		readOnly, mutates bool
	}{
		{"", false, false},
		{"ls -la && cat go.mod | head -5", true, false},
		{"grep -rn 'a > b' src 2>/dev/null", true, false},
		{"git log --oneline -5; git status", true, false},
		{"go test ./... 2>&1 | tail -20", false, false},
		{"go generate ./...", false, true},
		{"echo hi > file", false, true},
		{"cat $(which go)", false, true},
		{"sed -n '1,5p' a.go", true, false},
		{"sed -i s/a/b/ a.go", false, true},
		{"find . -name '*.go' -delete", false, true},
		{"until grep -q done log; do sleep 5; done", true, false},
		{"cd app && VERBOSE=1 make test", false, false},
		{"sleep 100 &", false, false},
		{"rm -rf build", false, true},
	} {
		readOnly, mutates := shellcmd.Effect(c.command)
		assert.Equal(t, c.readOnly, readOnly, "read only: %q", c.command)
		assert.Equal(t, c.mutates, mutates, "mutates: %q", c.command)
	}
}

func TestBackground(t *testing.T) {
	for _, c := range []struct {
		command, task string
		starts        bool
	}{
		{"make all > /tmp/make.log 2>&1 &", "/tmp/make.log", true},
		{"nohup ./soak.sh >soak.log 2>&1 & echo started $!", "soak.log", true},
		{"tmux new-session -d -s soak './soak.sh'", "soak", true},
		{"server >/dev/null 2>&1 &", "", true},
		{"make && make test", "", false},
		{"make >log 2>&1", "", false},
		{"echo 'a & b'", "", false},
	} {
		assert.Equal(t, c.starts, shellcmd.Backgrounds(c.command), "%q", c.command)
		assert.Equal(t, c.task, shellcmd.Task(c.command), "%q", c.command)
	}
}

func TestWaitsAndLooks(t *testing.T) {
	assert.True(t, shellcmd.Waits("sleep 30 && tail -5 soak.log"))
	assert.False(t, shellcmd.Waits("tail -5 soak.log"))
	assert.False(t, shellcmd.Waits("sleep 3; go generate"))
	assert.True(t, shellcmd.LooksAt("tail -5 soak.log", "soak.log"))
	assert.True(t, shellcmd.LooksAt("tmux capture-pane -p -t soak", "soak"))
	assert.False(t, shellcmd.LooksAt("tmux capture-pane -p -t other", "soak"))
	assert.False(t, shellcmd.LooksAt("rm soak.log", "soak.log"))
}
