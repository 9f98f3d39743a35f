// Command fuzzing runs every fuzz test of the module for some time each, one after
// the other, and writes down what came out: `make fuzz`.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzing:", err)
		os.Exit(1)
	}
}

// errFound says that a test failed.
var errFound = errors.New("there are findings; their inputs are in the testdata/fuzz folders named above")

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fuzzing", flag.ContinueOnError)
	each := flags.Duration("time", time.Minute, "how long to run each test")
	parallel := flags.Int("parallel", 1, "workers of a test")
	page := flags.String("page", "", "Markdown page whose table to replace; none if empty")
	only := flags.String("run", "^Fuzz", "tests to run, a regular expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	targets, err := discover(ctx, *only, flags.Args())
	if err != nil {
		return err
	}
	var results []result
	for _, t := range targets {
		r := fuzz(ctx, t, *each, *parallel)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		results = append(results, r)
		fmt.Fprintln(out, r)
	}
	if *page != "" {
		if err := replace(*page, table(results, *each, time.Now())); err != nil {
			return err
		}
	}
	for _, r := range results {
		if r.failed {
			return errFound
		}
	}
	return nil
}

// target is one fuzz test.
type target struct{ pkg, test string }

// discover lists the fuzz tests of the packages, all of the module if none is
// named. Only packages with such tests are built.
func discover(ctx context.Context, only string, packages []string) ([]target, error) {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	const files = `{{$d := .Dir}}{{range .TestGoFiles}}{{$.ImportPath}} {{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$.ImportPath}} {{$d}}/{{.}}{{"\n"}}{{end}}`
	listed, err := exec.CommandContext(ctx, "go", append([]string{"list", "-f", files}, packages...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	var out []target
	last := ""
	for line := range strings.Lines(string(listed)) {
		pkg, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || pkg == last {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(source, []byte("\nfunc Fuzz")) {
			continue
		}
		last = pkg
		names, err := exec.CommandContext(ctx, "go", "test", "-list", only, pkg).Output()
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", pkg, err)
		}
		for name := range strings.Lines(string(names)) {
			if name = strings.TrimSpace(name); strings.HasPrefix(name, "Fuzz") {
				out = append(out, target{pkg, name})
			}
		}
	}
	return out, nil
}

// fuzz runs one test. Minimising a new input is kept short: its default of a minute
// for each stalls tests that read files.
func fuzz(ctx context.Context, t target, each time.Duration, parallel int) result {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.test+"$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "10x", "-parallel", fmt.Sprint(parallel), t.pkg)
	cmd.WaitDelay = 10 * time.Second
	said, err := cmd.CombinedOutput()
	r := read(t, string(said))
	r.failed = err != nil && !r.late
	return r
}

func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }
