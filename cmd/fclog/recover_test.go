package main

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/bug"
)

// TestPanicsAreReportedWithoutText injects a panic with text of a log into a command,
// straight and in a worker.
func TestPanicsAreReportedWithoutText(t *testing.T) {
	const private = "postgres://app:of-a-log@db"
	for _, args := range [][]string{{"boom"}, {"boom", "--debug"}, {"worker"}} {
		var out, errOut bytes.Buffer
		a := &app{stdout: &out, stderr: &errOut, getenv: func(string) string { return "" }}
		root := rootCommand(a)
		cleaned := false
		root.AddCommand(
			&cobra.Command{Use: "boom", Run: func(*cobra.Command, []string) {
				defer func() { cleaned = true }()
				panic(private)
			}},
			&cobra.Command{Use: "worker", Run: func(*cobra.Command, []string) {
				var panics bug.Carrier
				done := make(chan bool)
				go func() {
					defer close(done)
					panics.Do(func() { panic(private) })
				}()
				<-done
				cleaned = true
				panics.Drop()
			}})
		root.SetArgs(args)
		assert.Equal(t, exitFailed, a.execute(t.Context(), root))
		assert.True(t, cleaned)
		assert.Empty(t, out.String())
		said := errOut.String()
		assert.Regexp(t, `^fclog: internal error: panic with a value of type string\n  at .*TestPanicsAreReportedWithoutText.*\(recover_test\.go:\d+\)`, said)
		assert.Contains(t, said, "Please report it at "+bug.Where)
		assert.NotContains(t, said, "of-a-log")
		assert.NotContains(t, said, "goroutine")
	}
}
