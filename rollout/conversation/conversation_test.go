package conversation

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
)

// list makes pieces of texts; a piece's first letter is what it matches by where
// it is a capital.
func list(b *rollout.Builder, texts ...string) []*Piece {
	var out []*Piece
	for _, s := range texts {
		p := &Piece{Index: -1, Item: rollout.Item{Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(s)}}
		if s[0] >= 'A' && s[0] <= 'Z' {
			p.Match = s[:1]
		}
		out = append(out, p)
	}
	return out
}

// carried lists the texts and the items of a request.
func carried(s *rollout.Session, n int) (texts []string, items []int) {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.First <= n && n <= sp.Last {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	for _, sp := range spans {
		texts = append(texts, s.Texts[sp.Text].S)
		items = append(items, sp.Item)
	}
	return texts, items
}

func follow(t require.TestingT, lists [][]string) *rollout.Session {
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	c := New(b, b.Chain())
	for _, l := range lists {
		c.Set(list(b, l...))
		c.Chain().Request(rollout.Request{Kind: rollout.KindTurn, Status: rollout.Answered, Run: 1, Attempt: 1, Base: -1})
	}
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	return s
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		name  string
		lists [][]string
		items []int // of the last request
	}{
		{"growth", [][]string{{"a"}, {"a", "b"}}, []int{0, 1}},
		{"an insertion", [][]string{{"a", "b"}, {"a", "x", "b"}}, []int{0, 2, 1}},
		{"a cut in the middle", [][]string{{"a", "x", "b"}, {"a", "b"}}, []int{0, 2}},
		{"another order", [][]string{{"a", "b"}, {"b", "a"}}, []int{1, 0}},
		{"a text that changed", [][]string{{"A1", "b"}, {"A2", "b"}}, []int{0, 1}},
		{"the same twice is two items", [][]string{{"A1"}, {"A1", "A1"}}, []int{0, 1}},
		{"new content", [][]string{{"a", "b"}, {"c"}}, []int{2}},
	} {
		s := follow(t, c.lists)
		texts, items := carried(s, len(c.lists))
		assert.Equal(t, c.lists[len(c.lists)-1], texts, c.name)
		assert.Equal(t, c.items, items, c.name)
	}
	grown := follow(t, [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}})
	assert.Len(t, grown.Spans, 3, "what stays in its place has one span")
}

// TestAnyLists: whatever lists follow each other, each request carries its own.
func TestAnyLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "b", "c", "A1", "A2", "B1"})
		lists := rapid.SliceOfN(rapid.SliceOfN(text, 1, 6), 1, 6).Draw(t, "lists")
		s := follow(t, lists)
		for i, want := range lists {
			got, items := carried(s, i+1)
			require.Equal(t, want, got)
			slices.Sort(items)
			require.Equal(t, len(want), len(slices.Compact(items)), "no item stands in a request twice")
		}
	})
}
