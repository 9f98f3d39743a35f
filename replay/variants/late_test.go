package variants

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// big is a result of 50 words.
func big(id string) string { return lines(id+" word%d is here now", 1, 10) }

func TestMask(t *testing.T) {
	m := newMaker()
	for _, id := range []string{"a", "b", "c", "d"} {
		m.request(1).call(shellCall(id, "./run "+id), big(id))
	}
	v := m.request(1).view(t)
	p := plan(t, v, "mask:keep=2")
	assert.Equal(t, []string{"", big("a"), big("a"), maskStub, maskStub}, sent(v, p, "a"))
	assert.Equal(t, []string{"", "", big("b"), big("b"), maskStub}, sent(v, p, "b"))
	assert.Equal(t, []string{"", "", "", big("c"), big("c")}, sent(v, p, "c"))
	// The stub has 15 words: 35 saved for a at request 4, for a and b at request 5.
	assert.Equal(t, int64(15), countWords("", maskStub))
	assert.Equal(t, []int64{0, 0, 0, 35, 70}, saved(v, p))
	for _, e := range p.Edits {
		assert.True(t, e.Lossy)
		assert.False(t, e.Early(v.Session))
	}
}

func TestMaskInBatches(t *testing.T) {
	m := newMaker()
	for _, id := range []string{"a", "b", "c", "d"} {
		m.request(1).call(shellCall(id, "./run "+id), big(id))
	}
	v := m.request(1).view(t)
	p := plan(t, v, "mask:keep=1,batch=3")
	assert.Equal(t, []int64{0, 0, 0, 0, 105}, saved(v, p), "three at once, at the last request")
}

func TestMaskNeverTakesWhatWasNotSeen(t *testing.T) {
	v := newMaker().request(1).call(shellCall("a", "x"), big("a")).call(shellCall("b", "y"), big("b")).request(1).request(1).view(t)
	p := plan(t, v, "mask:keep=0")
	assert.Equal(t, []string{"", big("a"), maskStub}, sent(v, p, "a"))
	assert.Equal(t, []string{"", big("b"), maskStub}, sent(v, p, "b"))
}

func TestMaskCountsWhatIsThere(t *testing.T) {
	m := newMaker().request(1).call(shellCall("a", "x"), big("a")).request(1).call(shellCall("b", "y"), big("b")).leaves("a")
	v := m.request(1).call(shellCall("c", "z"), big("c")).request(1).view(t)
	p := plan(t, v, "mask:keep=2")
	assert.Empty(t, p.Edits, "a has left: b and c are the newest two")
}

func TestMaskKeepsSmallOnes(t *testing.T) {
	v := newMaker().request(1).call(shellCall("a", "x"), "ok").request(1).request(1).view(t)
	assert.Empty(t, plan(t, v, "mask:keep=0").Edits)
}

func TestMaskCountsCallsNotParts(t *testing.T) {
	v := newMaker().request(1).call(shellCall("a", "x"), big("a"), big("a2")).request(1).call(shellCall("b", "y"), big("b")).request(1).view(t)
	p := plan(t, v, "mask:keep=1")
	// Both parts of a go at request 3: one becomes the stub of 15, the other is dropped.
	assert.Equal(t, []int64{0, 0, 35 + 50}, saved(v, p))
	assert.True(t, p.Edits[1].Drop)
	assert.Empty(t, plan(t, v, "mask:keep=2").Edits)
}

func TestMaskOnABranch(t *testing.T) {
	m := newMaker().request(1).call(shellCall("a", "x"), big("a")).request(1).call(shellCall("b", "y"), big("b")).request(1)
	fork, _ := m.chain.Fork(m.chain.Alive())
	m.chain = fork
	v := m.request(1).view(t)
	p := plan(t, v, "mask:keep=1")
	assert.Equal(t, []string{"", big("a"), maskStub, maskStub}, sent(v, p, "a"), "the branch has seen it before")
	assert.Equal(t, []string{"", "", big("b"), big("b")}, sent(v, p, "b"))
}

func TestClearToolResults(t *testing.T) {
	m := newMaker()
	for i, id := range []string{"a", "b", "c"} {
		m.request(int64(100+60*i)).call(shellCall(id, "./run "+id), big(id))
	}
	// Recorded input: 100, 160, 220, 280, 290.
	v := m.request(280).request(290).view(t)
	p := plan(t, v, "clear-tool-results:trigger=200,keep=1")
	// Request 3 (220) exceeds it: of a and b the newest stays, so a is cleared. A stub of 4
	// words for 50 saves 46. Request 4 would be 280 - 46 = 234: b is cleared, too.
	// Request 5: 290 - 92 = 198, below the trigger.
	assert.Equal(t, []string{"", big("a"), clearStub, clearStub, clearStub}, sent(v, p, "a"))
	assert.Equal(t, []string{"", "", big("b"), clearStub, clearStub}, sent(v, p, "b"))
	assert.Equal(t, []string{"", "", "", big("c"), big("c")}, sent(v, p, "c"))
	assert.Equal(t, []int64{0, 0, 46, 92, 92}, saved(v, p))
	assert.Empty(t, p.Warnings)

	// Waiting until 60 can be freed: at request 4 a and b free 92.
	p = plan(t, v, "clear-tool-results:trigger=200,keep=1,clear_at_least=60")
	assert.Equal(t, []int64{0, 0, 0, 92, 92}, saved(v, p))
	assert.Empty(t, plan(t, v, "clear-tool-results:trigger=290").Edits, "not above the trigger")
	assert.Empty(t, plan(t, v, "clear-tool-results").Edits)
}

func TestClearToolResultsWithoutUsage(t *testing.T) {
	v := newMaker().request(0).call(shellCall("a", "x"), big("a")).request(0).call(shellCall("b", "y"), big("b")).request(0).view(t)
	// The arguments are one or two words each; request 3 carries 100 words of results and more.
	p := plan(t, v, "clear-tool-results:trigger=100,keep=1")
	assert.Equal(t, []int64{0, 0, 46}, saved(v, p))
	assert.Equal(t, []string{"requests without usage were measured against the trigger by their logged items alone"}, p.Warnings)
}

func TestImagesOfResultsGoWithThem(t *testing.T) {
	m := newMaker().request(1).call(shellCall("a", "x"), big("a"))
	price := int64(700)
	image := m.b.Item(rollout.Item{Kind: rollout.Image, Tool: "bash", CallID: "a", Origin: rollout.Logged, Request: -1, Text: m.b.OpaqueText("pixels"), Tokens: &price})
	m.chain.Add(rollout.SlotConversation, image)
	v := m.request(1).request(1).view(t)
	p := plan(t, v, "mask:keep=0")
	assert.Len(t, p.Edits, 2)
	assert.Equal(t, replay.Edit{Span: spanOf(v, image), From: 3, Drop: true, Lossy: true, Why: "old-result"}, p.Edits[1])
}

func spanOf(v replay.View, item int) int { return v.Spans(item)[0] }
