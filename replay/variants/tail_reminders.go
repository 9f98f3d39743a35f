package variants

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// TailReminders moves blocks that change in front of the conversation behind it,
// so that the cached prefix holds.
func TailReminders() replay.Variant {
	return checked(replay.Variant{
		Name:  "tail-reminders",
		Title: "changing reminder and to-do blocks stand behind the conversation",
		Doc: "A block in front of the conversation that comes, goes or changes ends the cached prefix there, and all that follows is paid for again. " +
			"Moved behind the conversation it costs its own tokens only: as many are sent, fewer at the full or write price. Logged blocks are moved; where " +
			"the log does not hold them, a break counts as theirs if what was read from the cache ends in the part in front that is not logged, and nothing else " +
			"explains it (the audit's cause block-before-conversation).",
		Needs: []string{"cache figures"},
		Plan:  planTailReminders,
	})
}

func planTailReminders(v replay.View, _ replay.Values) replay.Plan {
	t := &tailPlan{turns: newTurns(v)}
	if !t.cacheReported() {
		return replay.Plan{Unsupported: "the log holds no cache figures: a broken prefix cannot be seen"}
	}
	if !t.cacheUsed() {
		t.plan.Warnings = []string{"by its cache figures nothing was read from a cache here: there is no prefix that could break"}
		return t.plan
	}
	t.moveLogged()
	t.fixUnlogged()
	return t.plan
}

// tailPlan is a tail-reminders plan under way.
type tailPlan struct {
	*turns
	plan replay.Plan
}

// cacheReported says whether the log has cache figures. 0 is one.
func (t *tailPlan) cacheReported() bool {
	for _, r := range t.Session.Requests {
		if r.Usage.CacheRead != nil || r.Usage.CacheWrite != nil {
			return true
		}
	}
	return false
}

func (t *tailPlan) cacheUsed() bool {
	for _, r := range t.Session.Requests {
		if known(r.Usage.CacheRead) > 0 || known(r.Usage.CacheWrite) > 0 {
			return true
		}
	}
	return false
}

// moveLogged puts the reminders that stand in front for a part of a chain only
// behind the conversation.
func (t *tailPlan) moveLogged() {
	for i, sp := range t.Session.Spans {
		if sp.Position >= frontEnd || t.Kind(i) != rollout.Reminder || t.Dropped(i) || sp.First == 1 && sp.Last == t.last[sp.Chain] {
			continue
		}
		t.plan.Edits = append(t.plan.Edits, replay.Edit{Span: i, From: sp.First, Drop: true, Call: -1, Why: "reminder-moved"})
		t.plan.Additions = append(t.plan.Additions, replay.Addition{
			Chain: sp.Chain, First: sp.First, Last: sp.Last, Position: tailStart + sp.Position, Kind: rollout.Reminder,
			Text: t.Text(i), Tokens: t.Sizes.Spans[i].Tokens, Why: "reminder-moved",
		})
	}
}

// fixUnlogged marks the requests whose prefix an unlogged block broke.
func (t *tailPlan) fixUnlogged() {
	if !blocksUnlogged(t.Session) {
		return
	}
	steps := newStepJudge(t.turns)
	for chain := range t.answered {
		for _, request := range steps.blockBreaks(chain) {
			t.plan.Fixes = append(t.plan.Fixes, replay.CacheFix{Request: request, Why: "block-before-conversation"})
		}
	}
	if n := len(t.plan.Fixes); n > 0 {
		t.plan.Warnings = append(t.plan.Warnings,
			fmt.Sprintf("%s put down to blocks that the log does not hold; their own tokens, which would be paid in full behind the conversation, are unknown.",
				times(n, "cache break", "cache breaks")))
	}
}

// blocksUnlogged says whether the log lacks reminders or to-do blocks.
func blocksUnlogged(s *rollout.Session) bool {
	for _, missing := range s.Missing {
		m := strings.ToLower(missing)
		if strings.Contains(m, "reminder") || strings.Contains(m, "todo") || strings.Contains(m, "to-do") {
			return true
		}
	}
	return false
}
