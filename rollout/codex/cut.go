package codex

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fclog/fclog/rollout"
)

// historyShare is the slack over the policy with which an output enters the
// history (codex-rs, context manager: policy × 1.2).
const historyShare = 1.2

// defaultHistoryBytes follows from the policy of current models, 10,000 tokens.
// A log of a model with the older policy of 10,000 bytes names it in
// turn_context or not at all.
const defaultHistoryBytes = int64(10_000 * bytesPerToken * historyShare)

// historyBytes is what an output may have when it enters the history.
func (p policy) historyBytes() (int64, bool) {
	n := p.Limit.V
	if n <= 0 || n > 1<<40 {
		return 0, false
	}
	switch p.Mode.V {
	case "tokens":
		return int64(float64(n) * bytesPerToken * historyShare), true
	case "bytes":
		return int64(float64(n) * historyShare), true
	}
	return 0, false
}

// cutMiddle keeps head and tail of a text that is over budget, as Codex does.
// The second result says whether anything was cut.
func cutMiddle(text string, budget int64) (string, bool) {
	if int64(len(text)) <= budget || strings.Contains(text, " truncated…") {
		return text, false
	}
	half := int(budget / 2)
	head, tail := text[:half], text[len(text)-half:]
	for len(head) > 0 && !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	gone := (len(text) - len(head) - len(tail) + bytesPerToken - 1) / bytesPerToken
	return fmt.Sprintf("%s…%d tokens truncated…%s", head, gone, tail), true
}

// truncatesItself says whether a tool cuts its own output before it is logged.
func truncatesItself(class rollout.ToolClass, tool string) bool {
	switch class {
	case rollout.ShellTool, rollout.PollTool, rollout.EditTool, rollout.TodoTool:
		return true
	}
	return tool == "exec"
}
