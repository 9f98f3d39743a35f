package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inherited copies the parent's two messages and its counter.
func inherited(l *log, turn string) *log {
	l.turn(turn).message("user", "write it").message("assistant", "Written.").usage(100, 10, 100, 10)
	return l.event("task_complete")
}

func TestOwnStart(t *testing.T) {
	const (
		parent7 = "019ca000-0000-7000-8000-000000000001"
		child7  = "019ca100-0000-7000-8000-000000000001"
		parent4 = "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
		child4  = "6973b6c0-94b8-487b-a530-2aeb6098ae0e"
	)
	for name, c := range map[string]struct {
		child, parent, old, own string // thread and turn IDs
	}{
		"turn times":  {child7, parent7, "019ca000-1000-7000-8000-000000000002", "019ca100-1000-7000-8000-000000000002"},
		"after burst": {child4, parent4, "t1", "t2"},
	} {
		t.Run(name, func(t *testing.T) {
			l := (&log{}).meta(c.child, `,"forked_from_id":"`+c.parent+`"`).meta(c.parent, "")
			inherited(l, c.old)
			l.turn(c.own).message("user", "review it").wait(2000).message("assistant", "Fine.").usage(180, 15, 80, 5)
			s := l.read(t)
			require.Len(t, s.Requests, 2)
			assert.True(t, s.Requests[0].Inherited)
			assert.False(t, s.Requests[1].Inherited)
			assert.Equal(t, c.parent, s.ForkedFrom)
			assert.Empty(t, s.Problems)
		})
	}
}

// The start ordinal is the best evidence; the log may write it as a string.
func TestOwnStartByOrdinal(t *testing.T) {
	l := (&log{}).meta(thread, `,"subagent_history_start_ordinal":"6","forked_from_id":"x"`)
	inherited(l, "t1")
	l.message("user", "review it").message("assistant", "Fine.").usage(180, 15, 80, 5)
	for i, line := range l.lines {
		l.lines[i] = strings.Replace(line, `{"timestamp"`, `{"ordinal":`+string(rune('0'+i))+`,"timestamp"`, 1)
	}
	s := l.read(t)
	assert.Equal(t, sums{requests: 1, input: 80, output: 5}, sumOf(s))
}

// Without times that tell, the parent's counters do: the child begins where its
// totals leave the parent's.
func TestOwnStartByParent(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, l *log) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(l.lines, "\n")), 0o600))
		return path
	}
	const parent, child = "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "6973b6c0-94b8-487b-a530-2aeb6098ae0e"
	theirs := put("rollout-"+parent+".jsonl", inherited((&log{}).meta(parent, ""), "t1"))
	l := inherited((&log{}).meta(child, `,"forked_from_id":"`+parent+`"`).wait(5000), "t1")
	path := put("rollout-"+child+".jsonl", l.turn("t2").message("user", "go").message("assistant", "Yes.").usage(180, 15, 80, 5))
	assert.Equal(t, sums{requests: 1, input: 80, output: 5}, sumOf(readOne(t, path)))
	assert.Equal(t, []string{theirs}, Depends(path))
	assert.Nil(t, Depends(theirs))
	assert.Nil(t, Companions(path))
}

// A sub-agent without copied history has one meta and no marker: all is its own.
func TestSubAgentWithoutHistory(t *testing.T) {
	l := (&log{}).meta(thread, `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1}}}`)
	l.turn("019c0000-1000-7000-8000-000000000002").message("user", "look").message("assistant", "Seen.").usage(100, 10, 100, 10)
	s := l.read(t)
	assert.Equal(t, sums{requests: 1, input: 100, output: 10}, sumOf(s))
	assert.Equal(t, "p", s.ParentID)
	assert.Equal(t, "subagent", s.Agent)
	assert.Equal(t, "", s.ForkedFrom)
}

func TestRepeatedMetaChangesNothing(t *testing.T) {
	l := start().message("assistant", "Hi.").usage(100, 10, 100, 10).meta(thread, `,"memory_mode":"on"`)
	s := l.read(t)
	assert.Equal(t, sums{requests: 1, input: 100, output: 10}, sumOf(s))
	assert.Equal(t, "", s.ForkedFrom)
}

func TestUUIDTime(t *testing.T) {
	// 0x019ca0000000 milliseconds.
	at, ok := uuidTime("019ca000-0000-7000-8000-000000000001")
	assert.True(t, ok)
	assert.Equal(t, time.UnixMilli(0x019ca0000000).UTC(), at)
	for _, bad := range []string{"", "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "019cz000-0000-7000-8000-000000000001"} {
		_, ok := uuidTime(bad)
		assert.False(t, ok, bad)
	}
}
