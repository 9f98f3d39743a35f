package measure

import (
	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// texts counts the texts of a session, each once and only when asked for.
type texts struct {
	session  *rollout.Session
	tokens   *tokens.Tokens
	encoding string
	counts   []int64 // -1: not counted yet
	prefixes map[rollout.TextID]Size
	numbered map[string]bool // IDs of calls whose result may hold numbered lines
}

func newTexts(s *rollout.Session, t *tokens.Tokens, encoding string) *texts {
	c := &texts{session: s, tokens: t, encoding: encoding, counts: make([]int64, len(s.Texts)), prefixes: map[rollout.TextID]Size{}, numbered: map[string]bool{}}
	for i := range c.counts {
		c.counts[i] = -1
	}
	for _, call := range s.Calls {
		if call.Class == rollout.ReadTool || call.Class == rollout.ShellTool {
			c.numbered[call.ID] = true
		}
	}
	return c
}

// sizes returns the sizes of all items and spans. Those without words whose size
// the log does not give stay nil.
func (c *texts) sizes(s *rollout.Session) ([]Size, []SpanSize) {
	items := make([]Size, len(s.Items))
	for i, it := range s.Items {
		items[i] = c.size(it, it.Text, it.Tokens)
	}
	spans := make([]SpanSize, len(s.Spans))
	for i, sp := range s.Spans {
		spans[i].Size = c.size(s.Items[sp.Item], sp.Text, sp.Tokens)
	}
	return items, spans
}

func (c *texts) size(it rollout.Item, id rollout.TextID, known *int64) Size {
	if known != nil {
		return Size{Tokens: known}
	}
	text := c.session.Texts[id]
	if text.Opaque || it.Kind == rollout.Reasoning && text.S == "" {
		return Size{}
	}
	n := c.count(id)
	size := Size{Tokens: &n}
	if it.Kind == rollout.ToolResult && c.numbered[it.CallID] {
		prefix := c.prefix(id)
		size.PrefixTokens, size.PrefixLines = prefix.PrefixTokens, prefix.PrefixLines
	}
	return size
}

func (c *texts) count(id rollout.TextID) int64 {
	if c.counts[id] < 0 {
		text := &c.session.Texts[id]
		c.counts[id] = c.tokens.CountText(c.encoding, text.S, text.Hash)
	}
	return c.counts[id]
}

// prefix returns what the line numbers in a text cost: its tokens less those of
// the text without them.
func (c *texts) prefix(id rollout.TextID) Size {
	if size, ok := c.prefixes[id]; ok {
		return size
	}
	size := Size{}
	if stripped, lines, ok := compress.LineNumbers(c.session.Texts[id].S); ok {
		size.PrefixLines = int64(lines)
		size.PrefixTokens = c.count(id) - c.tokens.Count(c.encoding, stripped)
	}
	c.prefixes[id] = size
	return size
}
