package rollout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// payload lists the texts that request n of a chain carried, in order.
func payload(s *Session, chain, n int) []string {
	var out []string
	for _, sp := range s.Spans { // sorted by first request, then position
		if sp.Chain == chain && sp.First <= n && n <= sp.Last {
			out = append(out, s.Texts[sp.Text].S)
		}
	}
	return out
}

func userItem(b *Builder, text string) int {
	return b.Item(Item{Kind: UserText, Role: RoleUser, Origin: Logged, Request: -1, Text: b.Text(text)})
}

func request(c *Chain) int {
	return c.Request(Request{Kind: KindTurn, Run: 1, Attempt: 1, Status: Answered, Base: -1})
}

func TestReadableAndOpaqueTextsOfTheSameContentStayApart(t *testing.T) {
	b := NewBuilder("test")
	opaque, readable := b.OpaqueText("AAAA"), b.Text("AAAA")
	assert.NotEqual(t, opaque, readable)
	assert.True(t, b.Session.Texts[opaque].Opaque)
	assert.Equal(t, "AAAA", b.Session.Texts[readable].S)
	assert.Equal(t, readable, b.Text("AAAA"), "stored once")
}

func TestReplacedTextStartsANewSpanInPlace(t *testing.T) {
	b := NewBuilder("test")
	b.Session.ID = "s"
	c := b.Chain()
	first := c.Add(SlotConversation, userItem(b, "one"))
	c.Add(SlotConversation, userItem(b, "two"))
	request(c)
	c.Replace(first, b.Text("1"), nil)
	request(c)
	c.Remove(first)
	request(c)
	s := b.Finish()
	require.NoError(t, Check(s))
	assert.ElementsMatch(t, []string{"one", "two"}, payload(s, 0, 1))
	assert.ElementsMatch(t, []string{"1", "two"}, payload(s, 0, 2))
	assert.Equal(t, []string{"two"}, payload(s, 0, 3))
	assert.Len(t, s.Spans, 3)
}

func TestForkCarriesTheSharedHistoryOnItsOwnChain(t *testing.T) {
	b := NewBuilder("test")
	b.Session.ID = "s"
	c := b.Chain()
	shared := c.Add(SlotConversation, userItem(b, "shared"))
	request(c)
	c.Add(SlotConversation, userItem(b, "only main"))
	fork, _ := c.Fork([]*Entry{shared})
	fork.Add(SlotConversation, userItem(b, "only fork"))
	request(fork)
	request(c)
	s := b.Finish()
	require.NoError(t, Check(s))
	assert.Equal(t, []string{"shared", "only fork"}, payload(s, 1, 1))
	assert.Equal(t, []string{"shared", "only main"}, payload(s, 0, 2))
}

func TestWhatNoRequestCarriedHasNoSpan(t *testing.T) {
	b := NewBuilder("test")
	c := b.Chain()
	request(c)
	c.Add(SlotConversation, userItem(b, "the last answer"))
	assert.Empty(t, b.Finish().Spans)
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	valid := func() *Session {
		b := NewBuilder("test")
		b.Session.ID = "s"
		c := b.Chain()
		c.Add(SlotConversation, userItem(b, "hi"))
		request(c)
		b.Call(Call{Request: 0, ID: "c1", Class: ShellTool, Args: 0, ArgsItem: -1, ResultItem: -1})
		return b.Finish()
	}
	require.NoError(t, Check(valid()))
	for name, c := range map[string]struct {
		spoil func(*Session)
		want  string
	}{
		"no id":           {func(s *Session) { s.ID = "" }, "no ID"},
		"request gap":     {func(s *Session) { s.Requests[0].Number = 2 }, "number 2"},
		"later base":      {func(s *Session) { s.Requests[0].Base = 0 }, "base 0"},
		"run zero":        {func(s *Session) { s.Requests[0].Run = 0 }, "run 0"},
		"negative usage":  {func(s *Session) { s.Requests[0].Usage.Input = n(-1) }, "negative"},
		"cache over all":  {func(s *Session) { s.Requests[0].Usage = Usage{Input: n(1), CacheRead: n(2)} }, "exceed input"},
		"reasoning more":  {func(s *Session) { s.Requests[0].Usage = Usage{Output: n(1), Reasoning: n(2)} }, "reasoning"},
		"item text":       {func(s *Session) { s.Items[0].Text = 9 }, "no text 9"},
		"item request":    {func(s *Session) { s.Items[0].Request = 5 }, "no request 5"},
		"span beyond end": {func(s *Session) { s.Spans[0].Last = 2 }, "requests 1 to 2"},
		"call twice":      {func(s *Session) { s.Calls = append(s.Calls, s.Calls[0]) }, "used twice"},
		"call result":     {func(s *Session) { s.Calls[0].ResultItem = 7 }, "no item"},
	} {
		s := valid()
		c.spoil(s)
		assert.ErrorContains(t, Check(s), c.want, name)
	}
}
