package claudecode

import (
	"github.com/fclog/fclog/rollout/logfile"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
)

var (
	cutInPlace    = regexp.MustCompile(`\.\.\. \[\d+ (?:characters|lines) truncated\] \.\.\.|\[\d+ lines truncated\]`)
	savedTo       = regexp.MustCompile(`saved to: (\S[^\n]*)`)
	statusTag     = regexp.MustCompile(`<status>\s*(\w+)\s*</status>`)
	retrievalTag  = regexp.MustCompile(`<retrieval_status>\s*(\w+)\s*</retrieval_status>`)
	outputTag     = regexp.MustCompile(`<(?:stdout|stderr|output)>\s*\S`)
	notFound      = regexp.MustCompile(`(?i)no (?:shell|task|agent|background \w+) found|no such file|does not exist|File not found`)
	deniedStarts  = []string{"The user doesn't want to", "The agent proposed", "Permission to use", "Claude requested permissions", "[Request interrupted by user for tool use"}
	deniedContain = []string{"requires approval", "denied by", "has been denied", "blocked by hook"}
)

// linkResult ties a result to its call and reads off it how the call went. Only
// the first result of a call counts.
func (rb *rebuild) linkResult(l *line, b block, items []int) {
	index, ok := rb.calls[b.id]
	if !ok {
		rb.f.fold("result-without-call", "tool results answer calls that are not in the log", l.number)
		return
	}
	c := &rb.s.Calls[index]
	if c.Ran || c.Denied {
		return
	}
	if len(items) > 0 {
		c.ResultItem = items[0]
	}
	text := b.resultText()
	failed := b.failed
	c.Failed, c.Denied = &failed, failed && denied(text)
	c.Ran = !c.Denied
	c.DurationMS = duration(l.result)
	rb.background(c, l, text)
	rb.truncation(c, l, text)
	rb.pollResult(c, text, failed)
}

// resultText is the text parts of a result together.
func (b block) resultText() string {
	if len(b.parts) == 1 {
		return b.parts[0].text
	}
	var sb strings.Builder
	for _, p := range b.parts {
		sb.WriteString(p.text)
	}
	return sb.String()
}

// denied says whether a failed call was refused and never ran.
func denied(text string) bool {
	if strings.HasPrefix(text, "Exit code") {
		return false
	}
	for _, p := range deniedStarts {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	head := text[:min(len(text), 400)]
	for _, p := range deniedContain {
		if strings.Contains(head, p) {
			return true
		}
	}
	return false
}

func duration(m resultMeta) *int64 {
	for _, v := range []logfile.Lenient[int64]{m.Duration, m.Total} {
		if v.OK && v.V >= 0 {
			ms := v.V
			return &ms
		}
	}
	return nil
}

// background reads off a result that it started a task or a sub-agent.
func (rb *rebuild) background(c *rollout.Call, l *line, text string) {
	head := text[:min(len(text), 2000)]
	switch c.Class {
	case rollout.AgentTool:
		id := l.result.Agent.V
		if id == "" {
			id = firstGroup(agentID, head)
		}
		if id == "" {
			id = firstGroup(agentID, text[max(0, len(text)-1000):])
		}
		if id != "" {
			c.Child = rb.f.session + "/" + id
		}
		if l.result.Async.V || strings.HasPrefix(text, "Async agent launched") {
			c.Task, c.Starts = id, id != ""
		}
	case rollout.ShellTool:
		if id := firstOf(l.result.Background.V, backgroundOf(head)); id != "" {
			c.Task, c.Starts, c.Poll = id, true, rollout.NoPoll
		}
	case rollout.OtherTool:
		if id := firstGroup(monitorID, head); id != "" {
			c.Task, c.Starts = id, true
		}
	}
}

// backgroundOf returns the task that a command became. Looking for a word of the
// expression first spares most texts the search for the rest.
func backgroundOf(text string) string {
	if !strings.Contains(text, "background") {
		return ""
	}
	return firstGroup(backgroundID, text)
}

// wasCut says whether the middle of an output is left out.
func wasCut(text string) bool {
	return strings.Contains(text, " truncated]") && cutInPlace.MatchString(text)
}

func firstGroup(re *regexp.Regexp, s string) string {
	if m := re.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// truncation finds outputs that the model saw only a part of, and calls that go
// back to one.
func (rb *rebuild) truncation(c *rollout.Call, l *line, text string) {
	switch {
	case strings.HasPrefix(text, "<persisted-output>"):
		c.Truncated, c.Handle = rollout.Recoverable, strings.TrimSpace(firstGroup(savedTo, text[:min(len(text), 2000)]))
		if c.Handle == "" {
			c.Truncated = rollout.Lost
		}
	case c.Class == rollout.ReadTool && readPart(c, l, text):
		c.Truncated, c.Handle = rollout.Recoverable, c.Path
	case c.Class == rollout.SearchTool && strings.Contains(text, "[Showing results with pagination = limit:"):
		c.Truncated, c.Handle = rollout.Recoverable, c.ID
	case c.Class == rollout.SearchTool && strings.Contains(text, "(Results are truncated."):
		c.Truncated = rollout.Lost
	case (c.Class == rollout.ShellTool || c.Class == rollout.PollTool || c.Class == rollout.SearchTool) && wasCut(text):
		c.Truncated = rollout.Lost
	}
	rb.recovers(c)
	if c.Handle != "" {
		rb.handles = append(rb.handles, c.Handle)
	}
}

// readPart says whether a read without a range of its own brought only the
// first lines of a file.
func readPart(c *rollout.Call, l *line, text string) bool {
	if strings.Contains(text[:min(len(text), 300)], "[Truncated: PARTIAL view") {
		return true
	}
	m := l.result.File.V
	return c.Range == "" && m.Lines.V > 0 && m.Total.V > m.Lines.V
}

// recentHandles bounds how far back a recovery is looked for, in truncated outputs.
const recentHandles = 100

// recovers looks for an earlier truncated output that this call goes back to: a
// later part of the same file, or the stored output by its path.
func (rb *rebuild) recovers(c *rollout.Call) {
	for _, h := range slices.Backward(rb.handles[max(0, len(rb.handles)-recentHandles):]) {
		switch {
		case c.Class == rollout.ReadTool && c.Path == h && (c.Range != "" || strings.Contains(h, "/tool-results/")),
			c.Class == rollout.SearchTool && c.Path == h && strings.Contains(h, "/tool-results/"),
			c.Class == rollout.ShellTool && len(h) > 8 && strings.Contains(c.Command, h):
			c.Recovers = h
			return
		}
	}
}

// pollResult says what a poll brought back.
func (rb *rebuild) pollResult(c *rollout.Call, text string, failed bool) {
	if c.Poll == rollout.NoPoll || c.Denied {
		return
	}
	switch {
	case failed && (notFound.MatchString(text[:min(len(text), 300)]) || c.Class == rollout.PollTool && rollout.LostTask(text)):
		c.Poll = rollout.PollLost
	case c.Class == rollout.PollTool:
		c.Poll = pollStatus(text)
	case c.Task != "":
		c.Poll = rb.filePoll(c.Task, text)
	}
}

func pollStatus(text string) rollout.PollClass {
	status := firstGroup(statusTag, text)
	retrieval := firstGroup(retrievalTag, text)
	brought := outputTag.MatchString(text)
	switch {
	case status == "completed", status == "failed", status == "killed", status == "stopped":
		return rollout.PollFinal
	case (status == "running" || status == "pending" || retrieval == "timeout" || retrieval == "not_ready") && brought:
		return rollout.PollProgress
	case status == "running", status == "pending", retrieval == "timeout", retrieval == "not_ready":
		return rollout.PollEmpty
	case retrieval == "success":
		return rollout.PollFinal
	}
	return rollout.PollUnknown
}

// filePoll compares a look at a task's output file with the one before. Whether
// the task had ended only a notification tells.
func (rb *rebuild) filePoll(task, text string) rollout.PollClass {
	before, seen := rb.polled[task]
	rb.polled[task] = text
	switch {
	case rb.ended[task]:
		return rollout.PollFinal
	case blank(text), seen && before == text, strings.HasPrefix(text, "(Bash completed with no output)"), strings.Contains(text, "exists but the contents are empty"):
		return rollout.PollEmpty
	}
	return rollout.PollProgress
}

var (
	taskID    = regexp.MustCompile(`<task-id>([\w-]+)</task-id>`)
	endStatus = regexp.MustCompile(`<status>(?:completed|failed|killed|stopped)</status>`)
)

// noteEnded remembers the tasks whose end a notification tells. One without a
// status is an event of a task that goes on.
func (rb *rebuild) noteEnded(text string) {
	for i, part := range strings.Split(text, "<task-notification>") {
		if i > 0 && endStatus.MatchString(part) {
			rb.ended[firstGroup(taskID, part)] = true
		}
	}
}

func (rb *rebuild) lineOfBlock(r *response, b block) *line {
	for _, l := range r.lines {
		for _, have := range l.blocks {
			if have.typ == b.typ && have.id == b.id {
				return l
			}
		}
	}
	return r.first
}

func (rb *rebuild) lineOf(r *response, b block) int { return rb.lineOfBlock(r, b).number }

func (rb *rebuild) timeOf(r *response, b block) time.Time { return rb.lineOfBlock(r, b).time }
