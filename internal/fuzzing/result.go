package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/fclog/fclog/internal/term"
)

// result is what one run of a fuzz test said.
type result struct {
	target
	execs  int64
	fresh  int64 // inputs that reached new code
	failed bool
	late   bool   // it did not fail: Go ended it while a worker was busy
	why    string // first line of the failure; "" none
	input  string // file of the failing input, below the package; "" none
}

var (
	progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)
	input    = regexp.MustCompile(`Failing input written to (\S+)`)
	// late is what Go says of its own end of the time, where a worker was busy then.
	late    = regexp.MustCompile(`(?m)^\s+context deadline exceeded$`)
	hung    = regexp.MustCompile(`(?m)^\s+(fuzzing process hung or terminated unexpectedly.*)$`)
	failure = regexp.MustCompile(`(?m)^\s+(?:--- FAIL: \S+ \([^)]*\)\s+)?(\S+\.go:\d+: .+|panic: .+)$`)
)

// read takes the last progress and the first failure from what go test said.
func read(t target, said string) result {
	r := result{target: t}
	if all := progress.FindAllStringSubmatch(said, -1); len(all) > 0 {
		r.execs, _ = strconv.ParseInt(all[len(all)-1][1], 10, 64)
		r.fresh, _ = strconv.ParseInt(all[len(all)-1][2], 10, 64)
	}
	if m := input.FindStringSubmatch(said); m != nil {
		r.input = m[1]
	}
	for _, why := range []*regexp.Regexp{failure, hung} {
		if m := why.FindStringSubmatch(said); m != nil && r.why == "" {
			r.why = strings.TrimSpace(m[1])
		}
	}
	r.late = r.input == "" && r.why == "" && late.MatchString(said)
	return r
}

func (r result) finding() string {
	switch {
	case !r.failed && r.execs == 0:
		return "none, but the time was too short to try a new input"
	case !r.failed:
		return "none"
	case r.input != "":
		return strings.TrimSpace(r.why + " (" + r.input + ")")
	case r.why != "":
		return r.why
	}
	return "it failed without an input"
}

func (r result) String() string {
	return fmt.Sprintf("%s %s: %s executions, %d new inputs, findings: %s", r.pkg, r.test, term.Exact(r.execs), r.fresh, r.finding())
}

// table is the results as Markdown.
func table(results []result, each time.Duration, at time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Last run: %s, %s for each test, Go %s on %s/%s.\n\n", at.UTC().Format(time.DateOnly), each, goVersion(), runtime.GOOS, runtime.GOARCH)
	b.WriteString("| package | test | executions | new inputs | findings |\n|---|---|--:|--:|---|\n")
	for _, r := range results {
		pkg := strings.TrimPrefix(r.pkg, "github.com/fclog/fclog/")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", pkg, r.test, term.Exact(r.execs), term.Exact(r.fresh), strings.ReplaceAll(r.finding(), "|", `\|`))
	}
	return b.String()
}

const (
	begin = "<!-- table: make fuzz -->\n"
	end   = "<!-- end of table -->\n"
)

// replace puts a table in the place of the one in a page.
func replace(path, table string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the table", path)
	}
	return os.WriteFile(path, []byte(before+begin+table+end+after), 0o644)
}
