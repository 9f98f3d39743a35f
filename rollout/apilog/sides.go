package apilog

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

// quote is a text as it stands within a JSON string.
func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil || len(b) < 2 {
		return s
	}
	return string(b[1 : len(b)-1])
}

// placeSides gives the side calls to the session they belong to: the one their
// ID names, the one whose text they repeat, in a log of one process the one under
// way. Others stand alone.
func (s *sorter) placeSides() {
	for _, t := range s.threads {
		if !t.side {
			continue
		}
		x := t.calls[0]
		g := s.sideGroup(x)
		if g == nil {
			g = s.group(x)
		}
		t.group, t.kind = g, s.sideKind(x)
		g.threads = append(g.threads, t)
	}
	for _, g := range s.groups {
		promote(g)
	}
}

// promote makes the first of a session's side calls its conversation where it has
// no other: such a session simply uses no tools.
func promote(g *group) {
	for _, t := range g.threads {
		if !t.side {
			return
		}
	}
	if len(g.threads) > 0 {
		g.threads[0].side = false
	}
}

func (s *sorter) sideGroup(x *exchange) *group {
	if g := s.known(x); g != nil {
		return g
	}
	text := s.allText(x)
	for _, g := range s.groups {
		if first := s.firstText(g); len(first) >= 12 && strings.Contains(text, first) && compatible(g, x) {
			return g
		}
	}
	if !x.ofFile {
		return nil
	}
	var near *group
	for _, g := range s.groups {
		if g.parent == nil && compatible(g, x) && (near == nil || byTime(g.threads[0].calls[0], x) <= 0) {
			near = g
		}
	}
	return near
}

func compatible(g *group, x *exchange) bool {
	return len(g.threads) > 0 && !g.threads[0].side && (g.id == "" || x.session == "" || g.id == x.session)
}

// firstText is what the user of a session said first.
func (s *sorter) firstText(g *group) string {
	if g.firstText == "" && len(g.threads) > 0 && !g.threads[0].side {
		g.firstText = s.task(g.threads[0].calls[0])
	}
	return g.firstText
}

func (s *sorter) allText(x *exchange) string {
	var b strings.Builder
	for _, id := range s.r.st.partsOf(x.lists.conversation) {
		b.WriteString(s.r.st.string(id))
		b.WriteByte('\n')
	}
	return b.String()
}

var (
	titleWords   = regexp.MustCompile(`(?i)\b(title|topic|name (this|the) (conversation|session|chat))\b`)
	summaryWords = regexp.MustCompile(`(?i)\b(summari[sz]\w*|summary|compact\w*|condens\w*)\b`)
)

// sideKind tells what a side call was for: its response that came back as the
// beginning of a history, or the words of its instructions.
func (s *sorter) sideKind(x *exchange) rollout.RequestKind {
	if x.summary {
		return rollout.KindCompaction
	}
	if x.maxTokens != nil && *x.maxTokens <= 1 {
		return rollout.KindHelper
	}
	var system strings.Builder
	for _, id := range s.r.st.partsOf(x.lists.system) {
		system.WriteString(s.r.st.string(id))
	}
	instructions := system.String()
	parts := s.r.st.partsOf(x.lists.conversation)
	if len(parts) > 0 {
		instructions += "\n" + head(s.r.st.string(parts[0]), 400) + "\n" + head(s.r.st.string(parts[len(parts)-1]), 400)
	}
	switch {
	case titleWords.MatchString(instructions):
		return rollout.KindTitle
	case summaryWords.MatchString(instructions):
		return rollout.KindCompaction
	}
	return rollout.KindHelper
}

// head is the first characters of a text.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}
