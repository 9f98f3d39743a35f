package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/fclog/fclog/internal/term"
)

// usualPager leaves at once where everything fits on the screen (F), shows colours
// (R), and leaves the text on the screen (X).
const usualPager = "less -FRX"

// pagerCommand is the user's pager; "" for none.
func (a *app) pagerCommand(f outputFlags) string {
	if f.noPager || f.file != "" || !term.IsTerminal(a.stdout) || a.getenv("TERM") == "dumb" {
		return ""
	}
	for _, name := range []string{"FCLOG_PAGER", "PAGER"} {
		command := strings.TrimSpace(a.getenv(name))
		switch {
		case command == "cat":
			return ""
		case command != "" && !installed(command):
			a.warn("%s: the pager %s is not installed", name, command)
			return ""
		case command != "":
			return command
		}
	}
	if !installed(usualPager) {
		return ""
	}
	return usualPager
}

// installed tells whether the program of a command line is there. What only a shell
// can tell is left to the shell.
func installed(command string) bool {
	program := strings.Fields(command)[0]
	if strings.ContainsAny(program, `'"$=\(`) {
		return true
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// show writes a result to the standard output: on a terminal through the pager once
// it is longer than the screen.
func (a *app) show(f outputFlags, do func(io.Writer) error) error {
	const name = "the standard output"
	command := a.pagerCommand(f)
	if command == "" {
		return pour(a.stdout, name, do)
	}
	p := &pager{app: a, command: command, room: term.HeightOf(a.stdout) - 1}
	err := pour(p, name, do)
	if p.quit && errors.Is(err, syscall.EPIPE) {
		err = nil // the user has seen enough: the command ends as it would have
	}
	return errors.Join(err, writing(name, p.close()))
}

// pager holds output back while it fits on the screen, and hands it over to the
// user's pager when it does not. Only the text itself goes there, as its input.
type pager struct {
	app     *app
	command string
	room    int // lines the screen has
	held    bytes.Buffer
	lines   int
	in      io.WriteCloser // of the pager; nil: it does not run
	quit    bool           // the user left it before it had everything
	end     func() error
}

func (p *pager) Write(b []byte) (int, error) {
	if p.in != nil {
		return p.pass(b)
	}
	p.held.Write(b)
	if p.lines += bytes.Count(b, []byte("\n")); p.lines <= p.room {
		return len(b), nil
	}
	if err := p.start(); err != nil {
		return 0, err
	}
	if _, err := p.pass(p.held.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *pager) pass(b []byte) (int, error) {
	n, err := p.in.Write(b)
	p.quit = p.quit || errors.Is(err, syscall.EPIPE)
	return n, err
}

// start runs the pager. Ctrl-C is the pager's from then on, which has the terminal;
// a request to end from elsewhere ends both.
func (p *pager) start() error {
	out, _ := p.app.stdout.(*os.File)
	cmd := commandLine(p.command)
	cmd.Stdout, cmd.Stderr = out, p.app.stderr
	cmd.Env = os.Environ()
	if p.app.getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	ours := make(chan os.Signal, 1)
	signal.Notify(ours, os.Interrupt)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		signal.Stop(ours)
		signal.Stop(ended)
		return fmt.Errorf("starting the pager: %w", err)
	}
	go func() {
		if _, asked := <-ended; asked {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	p.in = in
	p.end = func() error {
		_ = in.Close()
		// How a pager ends says nothing of the report.
		_ = cmd.Wait()
		signal.Stop(ours)
		signal.Stop(ended)
		close(ended)
		return nil
	}
	return nil
}

// commandLine runs a command of the user's environment, as shells do it.
func commandLine(command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		return exec.Command(words[0], words[1:]...)
	}
	return exec.Command("sh", "-c", command)
}

// close shows what fits on the screen, or waits until the user leaves the pager.
func (p *pager) close() error {
	if p.in != nil {
		return p.end()
	}
	_, err := p.app.stdout.Write(p.held.Bytes())
	return err
}
