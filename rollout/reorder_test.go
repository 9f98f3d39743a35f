package rollout

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReorderKeepsSpansInPlace(t *testing.T) {
	b := NewBuilder("test")
	c := b.Chain()
	var entries []*Entry
	for _, text := range []string{"a", "b", "c"} {
		entries = append(entries, c.Add(SlotConversation, b.Item(Item{Kind: UserText, Origin: Logged, Request: -1, Text: b.Text(text)})))
	}
	c.Request(Request{})
	c.Reorder([]*Entry{entries[0], entries[2], entries[1]})
	c.Request(Request{})
	var got []string
	for _, sp := range b.Finish().Spans {
		got = append(got, b.Session.Texts[sp.Text].S+string(rune('0'+sp.First))+string(rune('0'+sp.Last)))
	}
	// a keeps its place for both requests; b and c swap theirs at the second.
	assert.Equal(t, []string{"a12", "b11", "c11", "c22", "b22"}, got)
}
