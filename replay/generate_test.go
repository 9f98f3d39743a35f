package replay

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
)

var genKinds = []rollout.ItemKind{rollout.SystemPrompt, rollout.UserText, rollout.Reminder, rollout.ToolResult, rollout.Image, rollout.Summary, rollout.Reasoning, rollout.ToolCall, rollout.AssistantText}

// sessions generates sessions with everything that makes replay hard: items
// added, removed and changed in place, retries, forks, requests on the payload of an
// earlier one, inherited history, several models, pauses, unknown sizes and usage.
func sessions() *rapid.Generator[*rollout.Session] {
	return rapid.Custom(func(t *rapid.T) *rollout.Session {
		g := &generator{t: t, b: rollout.NewBuilder("test"), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		g.b.Session.ID = "s"
		g.chains = []*genChain{{Chain: g.b.Chain()}}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
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
	clock  time.Time
}

type genChain struct {
	*rollout.Chain
	entries []*rollout.Entry
}

func (g *generator) step() {
	c := rapid.SampledFrom(g.chains).Draw(g.t, "chain")
	pick := func(name string) int { return rapid.IntRange(0, len(c.entries)-1).Draw(g.t, name) }
	switch op := rapid.IntRange(0, 9).Draw(g.t, "op"); {
	case op <= 2:
		g.add(c, -1)
	case op == 3 && len(c.entries) > 0:
		i := pick("gone")
		c.Remove(c.entries[i])
		c.entries = append(c.entries[:i], c.entries[i+1:]...)
	case op == 4 && len(c.entries) > 0:
		c.Replace(c.entries[pick("changed")], g.b.Text(words(g.t, "text")), nil)
	case op == 5 && len(g.chains) < 3:
		fork, entries := c.Fork(c.Alive())
		g.chains = append(g.chains, &genChain{fork, entries})
	case op == 6:
		g.request(c, rapid.IntRange(-1, len(g.b.Session.Requests)-1).Draw(g.t, "base"))
	default:
		g.request(c, -1)
	}
}

func words(t *rapid.T, label string) string {
	list := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "file", " ", "\n", "12", "()", "é"}), 0, 30).Draw(t, label)
	return strings.Join(list, "")
}

func (g *generator) add(c *genChain, request int) {
	it := rollout.Item{Kind: rapid.SampledFrom(genKinds).Draw(g.t, "kind"), Origin: rollout.Logged, Request: request}
	switch rapid.IntRange(0, 5).Draw(g.t, "size") {
	case 0:
		it.Text = g.b.OpaqueText(words(g.t, "data") + "opaque")
	case 1:
		it.Text, it.Tokens = g.b.OpaqueText(words(g.t, "data")), ptr(int64(rapid.IntRange(0, 5000).Draw(g.t, "tokens")))
	default:
		it.Text = g.b.Text(words(g.t, "text"))
	}
	slot := rapid.SampledFrom([]rollout.Slot{rollout.SlotSystem, rollout.SlotConversation, rollout.SlotConversation, rollout.SlotTail}).Draw(g.t, "slot")
	c.entries = append(c.entries, c.Add(slot, g.b.Item(it)))
}

func (g *generator) request(c *genChain, base int) {
	g.clock = g.clock.Add(time.Duration(rapid.SampledFrom([]int{1, 20, 299, 301, 4000}).Draw(g.t, "pause")) * time.Second)
	r := rollout.Request{
		Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: base, Status: rollout.Answered, Time: g.clock,
		Inherited:   rapid.IntRange(0, 5).Draw(g.t, "inherited") == 0,
		Model:       rapid.SampledFrom([]string{"gpt-5", "gpt-5", "claude-x", "MiniMax-M2"}).Draw(g.t, "model"),
		OutputFinal: rapid.Bool().Draw(g.t, "final"),
	}
	if rapid.IntRange(0, 4).Draw(g.t, "usage") > 0 {
		r.Usage = usage(g.t)
	}
	i := c.Request(r)
	for range rapid.IntRange(0, 2).Draw(g.t, "produced") {
		g.add(c, i)
	}
}

func usage(t *rapid.T) rollout.Usage {
	in := int64(rapid.IntRange(0, 60000).Draw(t, "in"))
	u := rollout.Usage{Input: &in, Output: ptr(int64(rapid.IntRange(0, 5000).Draw(t, "out")))}
	if rapid.IntRange(0, 3).Draw(t, "cache") == 0 {
		return u
	}
	read := int64(rapid.IntRange(0, int(in)).Draw(t, "read"))
	write := int64(rapid.IntRange(0, int(in-read)).Draw(t, "write"))
	u.CacheRead, u.CacheWrite = &read, &write
	if rapid.Bool().Draw(t, "hour") {
		u.CacheWrite1h = ptr(write / 3)
		u.CacheWrite5m = ptr(write - write/3)
	}
	return u
}

// plans generates plans for a session: early and late edits, several of one span,
// dropped spans, removed requests, additions and extras.
func plans(s *rollout.Session) *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		p := Plan{}
		rapid.Bool().Draw(t, "any") // a session without requests asks for nothing else
		for span, sp := range s.Spans {
			if rapid.IntRange(0, 2).Draw(t, "edited") > 0 {
				continue
			}
			from := sp.First
			for range rapid.IntRange(1, 3).Draw(t, "edits") {
				e := Edit{Span: span, From: from, Call: -1, Why: "test", Drop: rapid.IntRange(0, 2).Draw(t, "drop") == 0, Lossy: rapid.Bool().Draw(t, "lossy")}
				if !e.Drop {
					e.Text = words(t, "new")
				}
				p.Edits = append(p.Edits, e)
				from += rapid.IntRange(1, 3).Draw(t, "later")
				if from > sp.Last {
					break
				}
			}
		}
		for i := range s.Requests {
			if rapid.IntRange(0, 5).Draw(t, "removed") == 0 {
				p.Removals = append(p.Removals, Removal{Request: i, Certain: rapid.Bool().Draw(t, "certain"), Moved: int64(rapid.IntRange(0, 50).Draw(t, "moved")), Why: "test"})
			}
			if rapid.IntRange(0, 8).Draw(t, "extra") == 0 {
				p.Extras = append(p.Extras, Extra{After: i, More: int64(rapid.IntRange(0, 300).Draw(t, "more")), Output: 10})
			}
			if rapid.IntRange(0, 8).Draw(t, "addition") == 0 {
				r := s.Requests[i]
				p.Additions = append(p.Additions, Addition{Chain: r.Chain, First: r.Number, Last: r.Number + rapid.IntRange(0, 3).Draw(t, "for"),
					Position: int64(rollout.SlotContext)<<40 | int64(i), Kind: rollout.Reminder, Text: fmt.Sprint("added ", i)})
			}
		}
		return p
	})
}
