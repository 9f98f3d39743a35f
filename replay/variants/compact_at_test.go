package variants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// conversation has three user turns of one answer each; the front, 100 words, is
// not logged.
func conversation() *scripted {
	return newScript().
		user("one two three four").request(104, 6, reply{text: "a b c d e f"}). // requests carry 4
		user("two").request(111, 2, reply{text: "g h"}).                        // 4 + 6 + 1
		user("three").request(114, 2, reply{text: "i j"}).                      // 11 + 2 + 1
		request(116, 2, reply{text: "k l"}).                                    // 14 + 2
		request(118, 2, reply{text: "m n"})                                     // 16 + 2
}

func TestCompactAt(t *testing.T) {
	v := conversation().recorded(t)
	p := CompactAt().Plan(v, replay.Values{"tokens": "114", "keep": "2", "summary": "3"})
	// Request 3 carries 114. From request 4 on what stands before the last two user
	// turns is gone, 4 + 6 words, and a summary of 3 is there: 7 less. The extra
	// request sends the 114 and the two words just said, and writes 3.
	require.Len(t, p.Edits, 2)
	for _, e := range p.Edits {
		assert.Equal(t, 4, e.From)
		assert.True(t, e.Drop && e.Lossy)
	}
	size := int64(3)
	assert.Equal(t, []replay.Addition{{Chain: 0, First: 4, Last: 5, Position: frontEnd, Kind: rollout.Summary, Tokens: &size, Why: "summary"}}, p.Additions)
	assert.Equal(t, []replay.Extra{{After: 2, More: 2, Output: 3, Why: "summary"}}, p.Extras)
	input, output, requests := pricedInput(v, p, false)
	assert.EqualValues(t, 104+111+114+(116-7)+(118-7)+116, input)
	assert.EqualValues(t, 6+2+2+2+2+3, output)
	assert.EqualValues(t, 6, requests)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 104+111+114+109+111, *low.Total.InputTokens)
	assert.EqualValues(t, 116, *low.Extra.InputTokens)
}

func TestCompactAtBounds(t *testing.T) {
	v := conversation().recorded(t)
	never := CompactAt().Plan(v, replay.Values{"tokens": "119"})
	assert.Empty(t, never.Edits)
	assert.Empty(t, never.Warnings)

	stuck := CompactAt().Plan(v, replay.Values{"tokens": "100", "keep": "3", "summary": "1"})
	assert.Empty(t, stuck.Edits)
	assert.Contains(t, stuck.Warnings[0], "1 conversation passed the threshold with no more than 3 user turns")

	// A summary as large as what goes is no gain.
	large := CompactAt().Plan(v, replay.Values{"tokens": "114", "keep": "2", "summary": "10"})
	assert.Empty(t, large.Edits)

	// Inside a turn: after request 3 the 14 words it carried go, after request 4
	// nothing more than a summary of 3 brings.
	inside := CompactAt().Plan(v, replay.Values{"tokens": "114", "keep": "0", "summary": "3"})
	input, _, _ := pricedInput(v, inside, false)
	assert.EqualValues(t, 104+111+114+(116-14+3)+(118-14+3)+(114+2), input)
}

// Compacting twice: the first summary goes when the second comes.
func TestCompactAtTwice(t *testing.T) {
	s := newScript()
	s.user("u").request(101, 1, reply{text: "a b c d e f g h i j"}) // carries 1
	s.request(111, 1, reply{text: "a b c d e f g h i k"})           // 11
	s.request(121, 1, reply{text: "a b c d e f g h i l"})           // 21: over 120 - but see below
	s.request(131, 1, reply{text: "a b c d e f g h i m"})           // 31
	s.request(141, 1, reply{text: "a b c d e f g h i n"})           // 41
	s.request(151, 1, reply{text: "a b c d e f g h i o"})           // 51
	v := s.recorded(t)
	p := CompactAt().Plan(v, replay.Values{"tokens": "120", "keep": "0", "summary": "2"})
	// After request 3 (121): 21 words go, 2 come. Request 4: 131 - 21 + 2 = 112.
	// Request 5: 141 - 21 + 2 = 122, over again: its 20 words beyond the summary go
	// too and the summary is written anew. Request 6: 151 - 41 + 2 = 112.
	require.Len(t, p.Additions, 2)
	assert.Equal(t, []int{4, 5}, []int{p.Additions[0].First, p.Additions[0].Last})
	assert.Equal(t, []int{6, 6}, []int{p.Additions[1].First, p.Additions[1].Last})
	require.Len(t, p.Extras, 2)
	input, _, _ := pricedInput(v, p, false)
	first, second := int64(121+10), int64(122+10)
	assert.EqualValues(t, 101+111+121+112+122+112+first+second, input)
}

// A recorded compaction after the variant's own: it is left, and its summary takes
// over.
func TestCompactAtBeforeARecordedOne(t *testing.T) {
	s := conversation()
	for _, e := range s.chain.Alive() {
		s.chain.Remove(e)
	}
	s.item(rollout.SlotConversation, rollout.Item{Kind: rollout.Summary}, "all so far")
	v := s.request(103, 1, reply{text: "o"}).request(104, 1, reply{}).recorded(t)
	p := CompactAt().Plan(v, replay.Values{"tokens": "114", "keep": "2", "summary": "3"})
	require.Len(t, p.Additions, 1)
	assert.Equal(t, 5, p.Additions[0].Last)
	require.Len(t, p.Warnings, 1)
	assert.Contains(t, p.Warnings[0], "before request 6 would have come later or not at all: about 111 tokens instead of 118")

	p = CompactAt().Plan(v, replay.Values{"tokens": "500"})
	require.Len(t, p.Warnings, 1)
	assert.Contains(t, p.Warnings[0], "came at 118 tokens, below the threshold: the variant would have postponed it")
}
