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

	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	root := rootCommand(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped; nothing was left half-written")
	}
	return a.report(err)
}

// report prints an error in fclog's one style and chooses the exit status.
func (a *app) report(err error) int {
	var usage usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitDone
	case errors.As(err, &usage):
		a.warn("%v", err)
		return exitUsage
	case errors.Is(err, errNothing), errors.Is(err, formats.ErrNothing):
		a.warn("%v", err)
		return exitNothing
	}
	a.warn("%v", err)
	return exitFailed
}

// app is what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// warn prints a message for the user. Names in it come from the file system, so
// they are made safe; line breaks stay.
func (a *app) warn(format string, args ...any) {
	for i, line := range strings.Split(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n") {
		if i == 0 {
			line = "fclog: " + line
		}
		fmt.Fprintln(a.stderr, term.Safe(line))
	}
}
