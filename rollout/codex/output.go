package codex

import (
	"github.com/fclog/fclog/rollout/logfile"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// outcome is what the text of a tool's output tells about its call.
type outcome struct {
	body       string // the output behind the header
	failed     *bool
	denied     bool
	durationMS *int64
	session    string // a process that still runs
	cell       string // a script that still runs
	exited     bool   // the process or script has ended
	original   *int64 // tokens before truncation, as Codex counts them: bytes/4
	header     bool   // the text began with a header of code mode
	truncated  bool
}

// shellJSON is the oldest form of a shell output: a JSON document in a string.
type shellJSON struct {
	Output   logfile.Lenient[string]    `json:"output"`
	Metadata logfile.Lenient[shellMeta] `json:"metadata"`
}

type shellMeta struct {
	ExitCode logfile.Lenient[int64]   `json:"exit_code"`
	Seconds  logfile.Lenient[float64] `json:"duration_seconds"`
}

func parseShellJSON(text string) (shellJSON, bool) {
	if !strings.HasPrefix(text, "{") {
		return shellJSON{}, false
	}
	s := decode[shellJSON]([]byte(text))
	return s, s.Output.OK && s.Metadata.OK && s.Metadata.V.ExitCode.OK
}

// plainForm renders the JSON form as Codex did on the wire while apply_patch
// was a free-form tool: header lines, then the output unescaped.
func (s shellJSON) plainForm() string {
	var b strings.Builder
	b.WriteString("Exit code: " + strconv.FormatInt(s.Metadata.V.ExitCode.V, 10))
	b.WriteString("\nWall time: " + strconv.FormatFloat(s.Metadata.V.Seconds.V, 'f', -1, 32) + " seconds")
	output := s.Output.V
	if lines, rest, ok := cutTotalLines(output); ok {
		b.WriteString("\nTotal output lines: " + lines)
		output = rest
	}
	b.WriteString("\nOutput:\n" + output)
	return b.String()
}

// cutTotalLines takes the line count of a truncated output off its start.
func cutTotalLines(output string) (lines, rest string, ok bool) {
	after, found := strings.CutPrefix(output, "Total output lines: ")
	if !found {
		return "", output, false
	}
	lines, rest, found = strings.Cut(after, "\n\n")
	if _, isNumber := parseInt(lines); !found || !isNumber {
		return "", output, false
	}
	return lines, rest, true
}

// parseOutput reads the texts of one output.
func parseOutput(texts []string) outcome {
	text := strings.Join(texts, "")
	if s, ok := parseShellJSON(text); ok {
		o := outcome{body: s.Output.V, failed: isFailure(s.Metadata.V.ExitCode.V), exited: true}
		if s.Metadata.V.Seconds.OK {
			o.durationMS = milliseconds(s.Metadata.V.Seconds.V)
		}
		o.judge()
		return o
	}
	o := outcome{body: text}
	o.readHeader(text)
	if o.header {
		o.readResult()
	}
	o.judge()
	return o
}

var (
	scriptState = regexp.MustCompile(`^Script (completed|failed|terminated|running with cell ID (\S+))$`)
	sessionLine = regexp.MustCompile(`^Process running with session ID (\S+)$`)
	exitLine    = regexp.MustCompile(`^(?:Process exited with code|Exit code:) (-?\d+)$`)
	wallLine    = regexp.MustCompile(`^Wall time:? ([0-9.]+) seconds$`)
	tokensLine  = regexp.MustCompile(`^Original token count: (\d+)$`)
)

// headerLines bounds the search for the line that ends a header.
const headerLines = 10

// readHeader takes the header lines off the start of an output. A text without
// any is left as it is.
func (o *outcome) readHeader(text string) {
	rest := text
	for i := 0; i < headerLines; i++ {
		line, after, more := strings.Cut(rest, "\n")
		if line == "Output:" {
			o.body = after
			return
		}
		if !o.headerLine(line) {
			// Plain sentences may follow a wall time without "Output:".
			if i > 0 {
				o.body = rest
			}
			return
		}
		if !more {
			o.body = ""
			return
		}
		rest = after
	}
}

func (o *outcome) headerLine(line string) bool {
	if m := scriptState.FindStringSubmatch(line); m != nil {
		o.header = true
		o.cell = m[2]
		o.exited = m[2] == ""
		if m[2] == "" {
			o.setFailed(m[1] != "completed")
		}
		return true
	}
	if m := sessionLine.FindStringSubmatch(line); m != nil {
		o.session = m[1]
		return true
	}
	if m := exitLine.FindStringSubmatch(line); m != nil {
		code, _ := parseInt(m[1])
		o.failed, o.exited = isFailure(code), true
		return true
	}
	if m := wallLine.FindStringSubmatch(line); m != nil {
		if seconds, err := strconv.ParseFloat(m[1], 64); err == nil {
			o.durationMS = milliseconds(seconds)
		}
		return true
	}
	if m := tokensLine.FindStringSubmatch(line); m != nil {
		if n, ok := parseInt(m[1]); ok {
			o.original = &n
		}
		return true
	}
	for _, start := range []string{"Command: ", "Chunk ID: ", "Total output lines: ", "Warning: truncated output"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// nestedResult is a result object that a code-mode script printed whole.
type nestedResult struct {
	Output   logfile.Lenient[string] `json:"output"`
	ExitCode logfile.Lenient[int64]  `json:"exit_code"`
	Session  jsontext.Value          `json:"session_id"`
}

// readResult looks for a printed result object behind a code-mode header.
func (o *outcome) readResult() {
	if !strings.HasPrefix(o.body, "{") {
		return
	}
	r := decode[nestedResult]([]byte(o.body))
	if r.ExitCode.OK {
		o.setFailed(r.ExitCode.V != 0)
	} else if id, ok := number(r.Session); ok {
		o.session, o.exited, o.failed = strconv.FormatInt(id, 10), false, nil
	}
	if r.Output.OK {
		o.body = r.Output.V
	}
}

// failures and refusals begin the plain sentences that report them.
var (
	failures = []string{
		"apply_patch verification failed", "write_stdin failed", "exec_command failed", "failed to ", "aborted",
		"execution error", "unsupported call", "Error:", "error:", "err: ", "tool call error", "patch rejected",
	}
	refusals  = []string{"rejected by user", "Rejected(", "patch rejected", "approval denied", "command rejected"}
	successes = []string{"Plan updated", "Success. Updated the following files"}
)

// refusalBytes is how far into an output a refusal may stand.
const refusalBytes = 400

// judge derives what the plain text says: success, failure, refusal, truncation.
func (o *outcome) judge() {
	o.truncated = isTruncated(o.body, o.original)
	head := o.body[:min(len(o.body), refusalBytes)]
	if strings.HasPrefix(head, "command timed out after ") {
		o.setFailed(true)
	}
	if o.exited && o.failed != nil && !*o.failed {
		return
	}
	for _, s := range refusals {
		o.denied = o.denied || strings.Contains(head, s)
	}
	if o.failed != nil {
		return
	}
	for _, s := range failures {
		if strings.HasPrefix(head, s) {
			o.setFailed(true)
		}
	}
	for _, s := range successes {
		if strings.HasPrefix(head, s) {
			o.setFailed(false)
		}
	}
}

func (o *outcome) setFailed(failed bool) { o.failed = &failed }

func isFailure(code int64) *bool {
	failed := code != 0
	return &failed
}

func milliseconds(seconds float64) *int64 {
	if math.IsNaN(seconds) || seconds < 0 || seconds > 1e9 {
		return nil
	}
	ms := int64(math.Round(seconds * 1000))
	return &ms
}

// truncationMark matches every mark that Codex has left in cut outputs.
var truncationMark = regexp.MustCompile(`\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]|\[\.\.\. output truncated to fit \d+ bytes \.\.\.\]|…\d+ (?:tokens|chars) truncated…|\.\.\. \d+ bytes omitted \.\.\.|\[omitted \d+ text items \.\.\.\]|^Warning: truncated output \(original token count: \d+\)|^Total output lines: \d+\n\n`)

// isTruncated says whether an output was cut. Where the log gives the size
// before, a mark inside a complete output is text that the command printed.
func isTruncated(body string, original *int64) bool {
	// The words are looked for first: the pattern is slow on long outputs.
	if !strings.Contains(body, "truncated") && !strings.Contains(body, "omitted ") && !strings.HasPrefix(body, "Total output lines: ") {
		return false
	}
	if !truncationMark.MatchString(body) {
		return false
	}
	return original == nil || *original*bytesPerToken > int64(len(body)) || strings.Contains(body, " bytes omitted ...")
}
