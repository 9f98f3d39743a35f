package opencode

import (
	"strings"
	"time"

	"github.com/fclog/fclog/rollout"
)

// From 2 January to 19 June 2026 (changes 6725 and 33039 of OpenCode) a message
// that the user sent while the agent worked went out inside a reminder, in the
// first request that carried it, and as it is from the next one on.
var (
	wrapsFrom  = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	wrapsUntil = time.Date(2026, 6, 19, 0, 0, 0, 0, time.UTC)
)

func wrapped(text string) string {
	return "<system-reminder>\nThe user sent the following message:\n" + text + "\n\nPlease address this message and continue with your tasks.\n</system-reminder>"
}

// wrap puts the messages queued before call i into their reminder and returns
// what takes them out again.
func (r *builder) wrap(i int) (unwrap func()) {
	var queued []*placed
	for j := i - 1; j >= 0 && r.doc.messages[j].Role.V == "user"; j-- {
		if r.queued(j) {
			queued = append(queued, r.placed[j]...)
		}
	}
	for _, p := range queued {
		it := r.s.Items[p.item]
		if text := r.s.Texts[it.Text].S; it.Kind == rollout.UserText && p.entry != nil && strings.TrimSpace(text) != "" {
			r.chain.Replace(p.entry, r.b.Text(wrapped(text)), nil)
		}
	}
	return func() {
		for _, p := range queued {
			if it := r.s.Items[p.item]; it.Kind == rollout.UserText && p.entry != nil {
				r.chain.Replace(p.entry, it.Text, it.Tokens)
			}
		}
	}
}

// queued tells a user message that came while the agent worked: the answer
// before it was not complete, or went on with tools.
func (r *builder) queued(j int) bool {
	m := &r.doc.messages[j]
	created := m.created()
	if created.Before(wrapsFrom) || !created.Before(wrapsUntil) {
		return false
	}
	for j--; j >= 0 && r.doc.messages[j].Role.V == "user"; j-- {
	}
	if j < 0 {
		return false
	}
	last := &r.doc.messages[j]
	if failed, _ := last.errored(); failed || last.Finish.V == "" || last.Summary.V {
		return false
	}
	return last.Finish.V == "tool-calls" || created.Before(at(last.Time.V.Completed))
}
