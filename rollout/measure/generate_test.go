package measure

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/rollout"
	"pgregory.net/rapid"
)

var genKinds = []rollout.ItemKind{rollout.SystemPrompt, rollout.UserText, rollout.Reminder, rollout.ToolResult, rollout.Image, rollout.Summary, rollout.Reasoning, rollout.ToolCall, rollout.AssistantText}

// sessions generates whole sessions with everything that makes counting hard:
// items added, removed and changed, retries, forks, side requests on the payload of
// an earlier one, inherited history, unknown sizes, missing usage.
func sessions() *rapid.Generator[*rollout.Session] {
	return rapid.Custom(func(t *rapid.T) *rollout.Session {
		g := &generator{t: t, b: rollout.NewBuilder("test")}
		g.b.Session.ID = "s"
		g.chains = []*genChain{{Chain: g.b.Chain()}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			g.step()
		}
		s := g.b.Finish()
		if err := rollout.Check(s); err != nil {
			t.Fatalf("generator: %v", err)
		}
		return s
	})
}

type generator struct {
	t      *rapid.T
	b      *rollout.Builder
	chains []*genChain
	run    int
}

type genChain struct {
	*rollout.Chain
	entries []*rollout.Entry
}

func (g *generator) step() {
	c := rapid.SampledFrom(g.chains).Draw(g.t, "chain")
	switch rapid.IntRange(0, 9).Draw(g.t, "op") {
	case 0, 1, 2:
		g.add(c, -1)
	case 3:
		if len(c.entries) > 0 {
			i := rapid.IntRange(0, len(c.entries)-1).Draw(g.t, "gone")
			c.Remove(c.entries[i])
			c.entries = append(c.entries[:i], c.entries[i+1:]...)
		}
	case 4:
		if len(c.entries) > 0 {
			e := rapid.SampledFrom(c.entries).Draw(g.t, "changed")
			c.Replace(e, g.b.Text(g.text()), nil)
		}
	case 5:
		if len(g.chains) < 4 {
			fork, entries := c.Fork(c.Alive())
			g.chains = append(g.chains, &genChain{fork, entries})
		}
	case 6:
		g.request(c, rapid.IntRange(-1, len(g.b.Session.Requests)-1).Draw(g.t, "base"))
	default:
		g.request(c, -1)
	}
}

func (g *generator) text() string {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "file", " ", "\n", "12", "()", "é"}), 0, 30).Draw(g.t, "words")
	return strings.Join(words, "")
}

func (g *generator) add(c *genChain, request int) {
	it := rollout.Item{Kind: rapid.SampledFrom(genKinds).Draw(g.t, "kind"), Origin: rollout.Logged, Request: request}
	switch rapid.IntRange(0, 5).Draw(g.t, "size") {
	case 0:
		it.Text = g.b.OpaqueText(g.text() + "opaque")
	case 1:
		n := int64(rapid.IntRange(0, 5000).Draw(g.t, "tokens"))
		it.Text, it.Tokens = g.b.OpaqueText(g.text()), &n
	default:
		it.Text = g.b.Text(g.text())
	}
	i := g.b.Item(it)
	c.entries = append(c.entries, c.Add(rollout.SlotConversation, i))
	if rapid.IntRange(0, 3).Draw(g.t, "call") == 0 {
		g.b.Call(rollout.Call{
			Request: request, ID: fmt.Sprint("c", len(g.b.Session.Calls)), Tool: "bash", Class: rapid.SampledFrom([]rollout.ToolClass{rollout.ShellTool, rollout.ReadTool, rollout.PollTool}).Draw(g.t, "class"),
			Args: g.b.Text(rapid.SampledFrom([]string{`{"command":"ls"}`, `{"command":"make"}`, ""}).Draw(g.t, "args")), ArgsItem: -1, ResultItem: -1,
			Ran: rapid.Bool().Draw(g.t, "ran"), Mutates: rapid.Bool().Draw(g.t, "mutates"), ReadOnly: rapid.Bool().Draw(g.t, "readonly"),
		})
	}
}

func (g *generator) request(c *genChain, base int) {
	if g.run == 0 || rapid.IntRange(0, 5).Draw(g.t, "new run") == 0 {
		g.run++
	}
	r := rollout.Request{Kind: rollout.KindTurn, Run: g.run, Attempt: 1, Base: base, Status: rollout.Answered,
		Inherited:   rapid.IntRange(0, 4).Draw(g.t, "inherited") == 0,
		Model:       rapid.SampledFrom([]string{"gpt-5", "claude-x", "gpt-4", ""}).Draw(g.t, "model"),
		OutputFinal: rapid.Bool().Draw(g.t, "final")}
	if rapid.IntRange(0, 3).Draw(g.t, "usage") > 0 {
		in := int64(rapid.IntRange(0, 200000).Draw(g.t, "in"))
		out := int64(rapid.IntRange(0, 5000).Draw(g.t, "out"))
		r.Usage.Input, r.Usage.Output = &in, &out
		if rapid.Bool().Draw(g.t, "reasoning") {
			n := out / 2
			r.Usage.Reasoning = &n
		}
	}
	i := c.Request(r)
	for range rapid.IntRange(0, 3).Draw(g.t, "produced") {
		g.add(c, i)
	}
}
