package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/internal/redact"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout/formats"
)

// Exit statuses.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNothing = 3 // nothing usable was found
)

// errNothing marks that there was nothing usable in what was named.
var errNothing = errors.New("nothing usable found")

// usageError marks a command line that makes no sense.
type usageError struct {
	err  error
	help string // command to ask for help
}

func (e usageError) Error() string { return fmt.Sprintf("%v; see '%s --help'", e.err, e.help) }
func (e usageError) Unwrap() error { return e.err }

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	// A closed pipe must come back as an error, so that temporary files go.
	signal.Ignore(syscall.SIGPIPE)

	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, stopped: ctx.Done()}
	root := rootCommand(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.execute(ctx, root)
}

// execute runs the command and reports its error. Nothing panics on to the user.
func (a *app) execute(ctx context.Context, root *cobra.Command) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = a.crashed(bug.Of(p))
		}
	}()
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped; nothing was left half-written")
	}
	return a.report(err)
}

// crashFrames is how many functions are named where it was not asked for all.
const crashFrames = 12

// crashed tells of a bug what its report needs: no text of logs.
func (a *app) crashed(p *bug.Panic) int {
	frames := p.Frames[:min(len(p.Frames), crashFrames)]
	if a.debug {
		frames = p.All
	}
	a.warn("internal error: %s\nat %s\n"+
		"This is a bug. Please report it at %s with the lines above and the one of 'fclog --version'.\n"+
		"None of them holds text of your logs, and no log was changed.", p.What, strings.Join(frames, " < "), bug.Where)
	return exitFailed
}

// report prints an error in fclog's one style and chooses the exit status.
func (a *app) report(err error) int {
	defer a.explain(err, 0)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitDone
	case errors.As(err, &usage):
		a.warn("%v", plain(err))
		return exitUsage
	case errors.Is(err, errNothing), errors.Is(err, formats.ErrNothing):
		a.warn("%v", plain(err))
		return exitNothing
	}
	a.warn("%v%s", plain(err), pathHint(err))
	return exitFailed
}

// app is what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	debug          bool            // --debug
	redact         bool            // --redact: messages name logs without secrets, too
	target         *target         // FILE of -o; nil: the standard output
	stopped        <-chan struct{} // closed when the program is asked to stop
}

// warn prints a message for the user. Names and errors in it come from the file
// system and from logs, so they are made safe. Line breaks of errors stay, but
// their further lines are set in: none can pass for a message of its own.
func (a *app) warn(format string, args ...any) {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = term.Safe(s)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(a.hidden(fmt.Sprintf(format, args...))), "\n") {
		before := "fclog: "
		if i > 0 {
			before = "  "
		}
		fmt.Fprintln(a.stderr, before+term.Safe(line))
	}
}

// hidden takes keys and passwords out of a message where --redact was asked for: names
// of files and folders may hold some.
func (a *app) hidden(text string) string {
	if !a.redact {
		return text
	}
	if err := redact.Each([]*string{&text}); err != nil {
		return "a message that could not be redacted: " + err.Error()
	}
	return text
}

// explain prints the chain of errors below err, for --debug.
func (a *app) explain(err error, depth int) {
	if err == nil || !a.debug {
		return
	}
	fmt.Fprintf(a.stderr, "%s%T: %s\n", strings.Repeat("  ", depth+1), err, term.Safe(a.hidden(analyze.WithoutValues(err.Error()))))
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		a.explain(e.Unwrap(), depth+1)
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			a.explain(below, depth+1)
		}
	}
}
