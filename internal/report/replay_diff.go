package report

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/internal/term"
)

// changes writes the largest changes of every variant as unified diffs.
func (t *terminal) changes(r *Replay, o ReplayOptions) {
	for i, v := range r.Variants {
		for n, c := range shownChanges(v, o) {
			if n == 0 {
				t.line("")
				t.line(t.theme.Heading.Render("Texts changed by " + term.Fit(r.Report.Variants[i].Variant, t.width-20)))
			}
			t.line("")
			for _, line := range term.Wrap(changeTitle(c), t.width-indent) {
				t.line(strings.Repeat(" ", indent) + t.theme.Strong.Render(line))
			}
			for _, line := range changeLines(c, o.Lines) {
				t.line(strings.Repeat(" ", indent) + term.Cut(line, t.width-indent))
			}
		}
		if left := len(v.Changes) - o.top(); left > 0 {
			t.line(strings.Repeat(" ", indent) + t.theme.Faint.Render(more(left, "changed text", "changed texts")))
		}
	}
}

func shownChanges(v ReplayVariant, o ReplayOptions) []TextChange {
	return v.Changes[:min(len(v.Changes), o.top())]
}

func markdownChanges(r *Replay, o ReplayOptions) string {
	var b strings.Builder
	for i, v := range r.Variants {
		for n, c := range shownChanges(v, o) {
			if n == 0 {
				fmt.Fprintf(&b, "\n## Texts changed by %s\n", term.CodeMarkdown(term.Fit(r.Report.Variants[i].Variant, maxMarkdownCell)))
			}
			lines := changeLines(c, o.Lines)
			fence := strings.Repeat("`", max(3, longestFence(lines)+1))
			fmt.Fprintf(&b, "\n%s\n\n%sdiff\n%s\n%s\n", term.SafeMarkdown(changeTitle(c)), fence, strings.Join(lines, "\n"), fence)
		}
		if left := more(len(v.Changes)-o.top(), "changed text", "changed texts"); left != "" {
			fmt.Fprintf(&b, "\n%s\n", left)
		}
	}
	return b.String()
}

// longestFence is the longest run of backticks in the lines.
func longestFence(lines []string) int {
	longest := 0
	for _, line := range lines {
		run := 0
		for _, r := range line {
			if r != '`' {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	return longest
}

// changeTitle says in one safe line which text it is.
func changeTitle(c TextChange) string {
	if c.Added {
		return fmt.Sprintf("Added to %s of session %s (%s)", requestsOf(c), term.Fit(c.SessionID, 40), term.Safe(words(c.Why)))
	}
	what := strings.TrimSpace(c.Tool + " " + arguments(c.What))
	if what == "" {
		what = fmt.Sprintf("item %d", c.Item)
	}
	s := fmt.Sprintf("%s: %s of session %s (%s)", term.Fit(what, maxMarkdownCell), requestsOf(c), term.Fit(c.SessionID, 40), term.Safe(words(c.Why)))
	if c.Dropped {
		s += ", dropped"
	}
	return s
}

func requestsOf(c TextChange) string {
	if c.From == c.Last {
		return "request " + term.Exact(int64(c.From))
	}
	return "requests " + requestRange(int64(c.From), int64(c.Last))
}

// changeLines is the unified diff of a change, every line safe, at most limit lines.
func changeLines(c TextChange, limit int) []string {
	var before, after []string
	if !c.Added {
		before = strings.Split(strings.TrimSuffix(c.Before, "\n"), "\n")
	}
	if !c.Dropped {
		after = strings.Split(strings.TrimSuffix(c.After, "\n"), "\n")
	}
	var out []string
	for _, line := range cutMiddle(unified(before, after), limit) {
		out = append(out, line[:1]+term.Fit(line[1:], maxCell))
	}
	return out
}

// cutMiddle keeps limit lines of both ends: what goes stands first in a diff, what
// comes often last.
func cutMiddle(lines []string, limit int) []string {
	if len(lines) <= limit {
		return lines
	}
	head := (limit + 1) / 2
	out := append([]string{}, lines[:head]...)
	out = append(out, "@ "+term.Count(int64(len(lines)-limit), "more line", "more lines"))
	return append(out, lines[len(lines)-(limit-head):]...)
}

// context is how many equal lines stand around a change.
const context = 2

// unified lists lines that go with -, lines that come with + and a few equal lines
// around them with a blank; "@" stands where equal lines are left out.
func unified(before, after []string) []string {
	edits := lineEdits(before, after)
	near := make([]bool, len(edits))
	for i, e := range edits {
		if e[0] == ' ' {
			continue
		}
		for k := max(0, i-context); k <= min(len(edits)-1, i+context); k++ {
			near[k] = true
		}
	}
	var out []string
	for i := 0; i < len(edits); i++ {
		if near[i] {
			out = append(out, edits[i])
			continue
		}
		skipped := 0
		for ; i < len(edits) && !near[i]; i++ {
			skipped++
		}
		i--
		out = append(out, "@ "+term.Count(int64(skipped), "equal line", "equal lines"))
	}
	return out
}

// maxTable bounds the work of finding common lines.
const maxTable = 4 << 20

// lineEdits turns one list of lines into another: a longest common subsequence
// between the equal ends, where it is small enough, else all out and all in.
func lineEdits(before, after []string) []string {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var out []string
	for _, line := range before[:head] {
		out = append(out, " "+line)
	}
	out = append(out, middleEdits(before[head:len(before)-tail], after[head:len(after)-tail])...)
	for _, line := range before[len(before)-tail:] {
		out = append(out, " "+line)
	}
	return out
}

func middleEdits(before, after []string) []string {
	n, m := len(before), len(after)
	common := make([]int32, 0)
	if (n+1)*(m+1) <= maxTable {
		common = commonLines(before, after)
	}
	var out []string
	i, j := 0, 0
	for i < n && j < m && len(common) > 0 {
		switch {
		case before[i] == after[j]:
			out = append(out, " "+before[i])
			i, j = i+1, j+1
		case common[(i+1)*(m+1)+j] >= common[i*(m+1)+j+1]:
			out = append(out, "-"+before[i])
			i++
		default:
			out = append(out, "+"+after[j])
			j++
		}
	}
	for ; i < n; i++ {
		out = append(out, "-"+before[i])
	}
	for ; j < m; j++ {
		out = append(out, "+"+after[j])
	}
	return out
}

// commonLines is, for every pair of places, how many lines what follows them has in
// common, in order.
func commonLines(before, after []string) []int32 {
	n, m := len(before), len(after)
	out := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if before[i] == after[j] {
				out[i*(m+1)+j] = out[(i+1)*(m+1)+j+1] + 1
				continue
			}
			out[i*(m+1)+j] = max(out[(i+1)*(m+1)+j], out[i*(m+1)+j+1])
		}
	}
	return out
}
