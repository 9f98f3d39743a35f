package analyze

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A dataset that changes while it is loaded is loaded again; one that never rests is
// used with a problem.
func TestOpenWhileAnImportIsAtWork(t *testing.T) {
	cases := []struct {
		changes  int // how often it changes while it is loaded
		sessions string
		problems []string
	}{
		{0, "1", []string{}},
		{1, "2", []string{}},
		{2, "3", []string{}},
		{99, "3", []string{"changed-while-read 1"}}, // the third change comes after the third look at sessions
	}
	for _, c := range cases {
		dir, looked := t.TempDir(), 0
		write(t, dir, session("codex", "s0", day(1, 0)))
		db := open(t, Options{Dataset: dir, between: func() {
			if looked++; looked <= c.changes {
				write(t, dir, session("codex", fmt.Sprint("s", looked), day(1, 0)))
			}
		}})
		assert.Equal(t, []string{c.sessions}, rowsOf(t, db, "SELECT count(*) FROM sessions"), c.changes)
		assert.Equal(t, c.problems, rowsOf(t, db, "SELECT kind, count FROM problems"), c.changes)
		assert.Equal(t, min(c.changes+1, looks), looked, "loaded as often as needed")
	}
}

func TestSteadily(t *testing.T) {
	bad := errors.New("a file is gone")
	cases := []struct {
		name    string
		changes int     // of the first looks
		errs    []error // of the looks; none beyond
		looks   int
		want    error
	}{
		{"steady", 0, nil, 1, nil},
		{"an error of its own", 0, []error{bad}, 1, bad},
		{"a file went meanwhile", 1, []error{bad}, 2, nil},
		{"never at rest", 9, nil, looks, errUnsteady},
		{"never at rest, and an error", 9, []error{nil, nil, bad}, looks, bad},
	}
	for _, c := range cases {
		dir, n := t.TempDir(), 0
		write(t, dir, session("codex", "s0", day(1, 0)))
		err := steadily(t.Context(), dir, func() error {
			if n++; n <= c.changes {
				write(t, dir, session("codex", fmt.Sprint("s", n), day(1, 0)))
			}
			if n > len(c.errs) {
				return nil
			}
			return c.errs[n-1]
		})
		assert.Equal(t, c.want, err, c.name)
		assert.Equal(t, c.looks, n, c.name)
	}
	ctx, stop := context.WithCancel(t.Context())
	dir := t.TempDir()
	write(t, dir, session("codex", "s0", day(1, 0)))
	n := 0
	err := steadily(ctx, dir, func() error {
		n++
		write(t, dir, session("codex", "s1", day(1, 0)))
		stop()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, n, "a stopped command does not look again")
}
