package variants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

func TestBatchReads(t *testing.T) {
	v := newScript().user("look").
		request(100, 10, reply{asks: []ask{reads("alpha.go", "text of one")}}).
		request(200, 20, reply{text: "next", asks: []ask{reads("beta.go", "text of two")}}).
		request(300, 30, reply{asks: []ask{reads("gamma.go", "text of three")}}).
		request(400, 40, reply{text: "done"}).recorded(t)
	p := BatchReads().Plan(v, nil)
	// Three reads become one response: requests 1 and 2 go. Their arguments, two
	// words each, are produced by the first response instead. All stays in request 3.
	assert.Equal(t, []replay.Removal{
		{Request: 1, Certain: true, Moved: 2, Why: "serial-read"},
		{Request: 2, Certain: true, Moved: 2, Why: "serial-read"},
	}, p.Removals)
	assert.Empty(t, p.Edits)
	input, output, requests := pricedInput(v, p, false)
	assert.EqualValues(t, 100+400, input)
	assert.EqualValues(t, 10+2+2+40, output)
	assert.EqualValues(t, 2, requests)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 500, *low.Total.InputTokens)
	assert.EqualValues(t, 54, *low.Total.OutputTokens)
}

func TestBatchReadsChains(t *testing.T) {
	a, b, c := reads("alpha.go", "text"), reads("beta.go", "text"), reads("gamma.go", "text")
	shell := ask{Call: rollout.Call{Tool: "bash", Class: rollout.ShellTool, Mutates: true}, args: "make", result: "ok"}
	cases := []struct {
		name           string
		asks           [][]ask
		certain, maybe []int
	}{
		{name: "a batch is no link", asks: [][]ask{{a}, {b, c}, {a}}},
		{name: "a call that may change something ends a chain", asks: [][]ask{{a}, {shell}, {b}, {c}}, certain: []int{3}},
		{name: "no call ends a chain", asks: [][]ask{{a}, {}, {b}}},
		{name: "polls are none", asks: [][]ask{{polls("x", rollout.PollEmpty, "no")}, {polls("x", rollout.PollEmpty, "no")}}},
		{name: "the path stands in the result before", asks: [][]ask{{reads("alpha.go", "imports beta.go here")}, {b}}},
		{name: "a shorter word does: only possible", asks: [][]ask{{reads("alpha.go", "see b.go")}, {reads("b.go", "text")}}, maybe: []int{1}},
		{
			// gamma.go rests on the first result, not on the one before it: the audit
			// counts the link, but one response for all three is not certain.
			name: "rests on an older result", asks: [][]ask{{reads("alpha.go", "imports gamma.go")}, {b}, {c}}, certain: []int{1}, maybe: []int{2},
		},
		{
			name: "a new response begins there", asks: [][]ask{{reads("alpha.go", "imports gamma.go")}, {b}, {c}, {reads("delta.go", "text")}},
			certain: []int{1, 3}, maybe: []int{2},
		},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			s := newScript().user("look")
			for _, asks := range k.asks {
				s.request(100, 10, reply{asks: asks})
			}
			var certain, maybe []int
			for _, r := range BatchReads().Plan(s.request(100, 10, reply{text: "done"}).recorded(t), nil).Removals {
				if r.Certain {
					certain = append(certain, r.Request)
				} else {
					maybe = append(maybe, r.Request)
				}
			}
			assert.Equal(t, k.certain, certain)
			assert.Equal(t, k.maybe, maybe)
		})
	}
}

// serialize and batch-reads are opposites: what the one takes apart the other
// joins again.
func TestSerialize(t *testing.T) {
	v := newScript().user("look").
		request(100, 30, reply{text: "all three", asks: []ask{reads("alpha.go", "one"), reads("beta.go", "two words"), reads("gamma.go", "three")}}).
		request(200, 40, reply{text: "done"}).recorded(t)
	p := Serialize().Plan(v, nil)
	// First extra: payload 100, the words said (2), first call (2) and result (1).
	// Second: the second call (2) and result (2) on top.
	assert.Equal(t, []replay.Extra{{After: 0, More: 5, Why: "serial-call"}, {After: 0, More: 9, Why: "serial-call"}}, p.Extras)
	input, output, requests := pricedInput(v, p, false)
	assert.EqualValues(t, 100+105+109+200, input)
	assert.EqualValues(t, 70, output)
	assert.EqualValues(t, 4, requests)
	assert.Equal(t, []string{"1 batch of 3 calls taken apart."}, p.Warnings)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 300, *low.Total.InputTokens)
	assert.EqualValues(t, 105+109, *low.Extra.InputTokens)
}

func TestSerializeLeavesScriptsAlone(t *testing.T) {
	inner := reads("beta.go", "two")
	inner.Parent = "call-1"
	v := newScript().user("look").request(100, 30, reply{asks: []ask{reads("alpha.go", "one"), inner}}).recorded(t)
	require.Len(t, v.Session.Calls, 2)
	assert.Empty(t, Serialize().Plan(v, nil).Extras)
}
