package variants

import (
	"context"
	"fmt"
	"time"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// maxTimeouts is how many results in a row may time out before a filter is given
// up: the rest would only take as long.
const maxTimeouts = 3

// maxAnswer is the largest limit that may be set on an answer, in bytes. No more
// than what the texts of a session may grow by is ever read beyond the length of
// the result: a longer answer could not be taken.
const maxAnswer = 1 << 30

// Exec is anyone's own filter as a child process.
func Exec() replay.Variant {
	memory := newMemory()
	return checked(replay.Variant{
		Name:  "exec",
		Title: "your own filter, as a child process",
		Doc: "Gives every tool result to a program and takes what it answers as the text that would have been sent. " +
			"mode=each starts one process a result: the result comes on standard input, the answer is standard output, status 0 means success; " +
			"FCLOG_TOOL, FCLOG_CLASS, FCLOG_COMMAND, FCLOG_PATH and FCLOG_CALL say what it is. " +
			"mode=jsonl starts one process, writes a line {\"id\",\"tool\",\"class\",\"command\",\"path\",\"call\",\"text\"} for each result and reads a line {\"id\",\"text\"} back, which must not wait in a buffer. " +
			"Equal results are asked for once. A crash, a time-out or a bad answer is listed and leaves the result as it was, and so is what is left once all answers together are 16 MiB longer than the results. " +
			"A program that ends and leaves something behind that holds its output has answered with what came until then; that takes a second. " +
			"The program must answer the same for the same input, or the estimate cannot be repeated.",
		Options: []replay.Option{
			{Name: "cmd", Doc: "the program and its arguments; quotes hold an argument together", Check: checkCommand},
			choice("mode", "each: one process a result; jsonl: one process for all", "each", "jsonl"),
			choice("sh", "true: cmd is a line for sh -c", "false", "true"),
			duration("timeout", "10s", "time a result may take"),
			upTo(whole("max", 4<<20, 1, "bytes an answer may have, unless the result has more; at most 1073741824, and never more than the result and 16 MiB"), maxAnswer),
			choice("lossy", "false: the program promises that nothing is lost", "true", "false"),
			classOption(),
		},
		Needs: []string{"text of tool results"},
		Plan:  func(v replay.View, values replay.Values) replay.Plan { return planExec(v, values, memory) },
	})
}

func planExec(v replay.View, values replay.Values, memory *memory) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	f := newFilter(v.Context(), values)
	defer f.close()
	only := selector{class: rollout.ToolClass(values["class"])}
	troubles, grown := newTroubles(), growth{}
	plan := replay.Plan{Edits: rewriteResults(v, true, func(r result, text string) (rewrite, bool) {
		if !only.takes(v.Session, r) || v.Session.Items[r.item].Kind != rollout.ToolResult || f.ctx.Err() != nil || troubles.givenUp() {
			return rewrite{}, false
		}
		q := questionOf(v.Session, r, text)
		answer, err := memory.answer(f, q)
		if err == nil && !grown.takes(text, answer) {
			err = errTooMuch
		}
		troubles.note(err)
		return rewrite{text: answer, lossy: values["lossy"] == "true", why: "exec"}, err == nil
	})}
	for _, w := range troubles.warnings() {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("session %s: %s", v.Session.ID, w)) // so that equal ones of two sessions stay two
	}
	if troubles.never {
		plan = replay.Plan{Unsupported: fmt.Sprintf("%s: %v", f.argv[0], errNoStart)}
	}
	return plan
}

// question is what a filter is asked about one result.
type question struct {
	ID      int    `json:"id"`
	Tool    string `json:"tool"`
	Class   string `json:"class"`
	Command string `json:"command"`
	Path    string `json:"path"`
	Call    string `json:"call"`
	Text    string `json:"text"`
}

func questionOf(s *rollout.Session, r result, text string) question {
	q := question{Tool: s.Items[r.item].Tool, Text: text, Call: s.Items[r.item].CallID}
	if r.call >= 0 {
		c := s.Calls[r.call]
		q.Tool, q.Class, q.Command, q.Path, q.Call = c.Tool, string(c.Class), c.Command, c.Path, c.ID
	}
	return q
}

// newFilter makes a filter of checked values.
func newFilter(ctx context.Context, values replay.Values) *filter {
	argv, _ := words(values["cmd"])
	if values["sh"] == "true" {
		argv = []string{"sh", "-c", values["cmd"]}
	}
	timeout, _ := time.ParseDuration(values["timeout"])
	return &filter{ctx: ctx, argv: argv, lines: values["mode"] == "jsonl", timeout: timeout, max: number(values, "max")}
}

func checkCommand(value string) error {
	argv, err := words(value)
	if err == nil && len(argv) == 0 {
		err = fmt.Errorf("want a program, as in cmd=./filter.sh")
	}
	return err
}

// words splits a command line at blanks; quotes of either kind hold a word together.
func words(line string) ([]string, error) {
	var out []string
	var word []byte
	open, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word = append(word, c)
		case c == '"' || c == '\'':
			open, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if open {
				out = append(out, string(word))
			}
			open, word = false, nil
		default:
			open, word = true, append(word, c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("no closing %c in %q", quote, line)
	}
	if open {
		out = append(out, string(word))
	}
	return out, nil
}
