package variants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Prompt sends another system prompt or other tool definitions, or a constant text
// on top.
func Prompt() replay.Variant {
	return checked(replay.Variant{
		Name:  "prompt",
		Title: "another system prompt, other tool definitions, or a constant text on top",
		Doc: "file stands in for the system prompt, or for the tool definitions where its front matter says so. Where the log does not hold " +
			"what it replaces, base gives that, and every turn changes by the difference. add is sent with every request on top: " +
			"requests x its own tokens. Both stand in front, so the first request writes them to the cache and the others read them. " +
			"Rules that the new text loses against the old one are named: what a prompt is worth is what the model does with it.",
		Options: []replay.Option{
			{Name: "file", Doc: "file or name of a prompt variant"},
			{Name: "base", Doc: "file with the text that file replaces, for logs that do not hold it"},
			{Name: "add", Doc: "file with a text that every request carries in addition"},
		},
		Needs:     []string{"system prompt or tool definitions, unless base is given"},
		AsksModel: true,
		Plan:      planPrompt,
	})
}

func planPrompt(v replay.View, values replay.Values) replay.Plan {
	p := &promptPlan{turns: newTurns(v)}
	if values["file"] == "" && values["add"] == "" {
		return replay.Plan{Unsupported: "nothing to send: give file= or add="}
	}
	for _, step := range []func(replay.Values) error{p.replace, p.add} {
		if err := step(values); err != nil {
			return replay.Plan{Unsupported: err.Error()}
		}
	}
	return p.plan
}

// promptPlan is a prompt plan under way.
type promptPlan struct {
	*turns
	plan replay.Plan
}

// kinds are the items a prompt variant stands in for.
var promptKinds = map[prompts.Target]rollout.ItemKind{
	prompts.System: rollout.SystemPrompt, prompts.Tools: rollout.ToolDefinitions, prompts.Nothing: rollout.SystemPrompt,
}

// promptNames say what they are.
var promptNames = map[prompts.Target]string{prompts.System: "system prompt", prompts.Tools: "tool definitions"}

func (p *promptPlan) replace(values replay.Values) error {
	if values["file"] == "" {
		return nil
	}
	variant, err := prompts.Open(values["file"])
	if err != nil {
		return err
	}
	if variant.Replaces == prompts.Nothing {
		p.everywhere(variant, "prompt-added")
		return nil
	}
	var base *prompts.Variant
	if values["base"] != "" {
		b, err := prompts.Open(values["base"])
		if err != nil {
			return err
		}
		base = &b
	}
	spans := p.kindSpans(promptKinds[variant.Replaces])
	switch {
	case len(spans) > 0:
		p.stand(variant, base, spans)
	case base != nil:
		p.difference(variant, *base)
	default:
		return fmt.Errorf("the log does not hold the %s: give the text that stood there as base=FILE", promptNames[variant.Replaces])
	}
	return nil
}

// kindSpans lists the readable spans of a kind by chain, first request and position.
func (p *promptPlan) kindSpans(kind rollout.ItemKind) []int {
	var out []int
	for i := range p.Session.Spans {
		if p.Kind(i) == kind && !p.Opaque(i) && !p.Dropped(i) {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		x, y := p.Session.Spans[a], p.Session.Spans[b]
		return cmp.Or(cmp.Compare(x.Chain, y.Chain), cmp.Compare(x.First, y.First), cmp.Compare(x.Position, y.Position))
	})
	return out
}

// stand puts the new text in the place of the old one: of the span that equals
// base, else of the first of a payload, and then the others in front go.
func (p *promptPlan) stand(variant prompts.Variant, base *prompts.Variant, spans []int) {
	exact := p.equalTo(base, spans)
	if base != nil && len(exact) == 0 {
		p.warn("The text given as base is not what the log holds; the logged one counts.")
	}
	old := map[string]bool{}
	for _, i := range spans {
		sp := p.Session.Spans[i]
		edit := replay.Edit{Span: i, From: sp.First, Text: variant.Text, Drop: variant.Text == "", Call: -1, Why: "prompt"}
		switch {
		case len(exact) > 0 && !exact[i]:
			continue
		case len(exact) == 0 && !p.leads(i, spans):
			if sp.Position >= frontEnd {
				continue
			}
			edit.Text, edit.Drop = "", true
		}
		old[p.Text(i)] = true
		p.plan.Edits = append(p.plan.Edits, edit)
	}
	var texts []string
	for text := range old {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	p.tripwire(strings.Join(texts, "\n\n"), variant.Text)
}

func (p *promptPlan) equalTo(base *prompts.Variant, spans []int) map[int]bool {
	out := map[int]bool{}
	for _, i := range spans {
		if base != nil && strings.TrimSpace(p.Text(i)) == strings.TrimSpace(base.Text) {
			out[i] = true
		}
	}
	return out
}

// leads says whether no span of the same kind stands in front of one when it begins.
func (p *promptPlan) leads(i int, spans []int) bool {
	sp := p.Session.Spans[i]
	return !slices.ContainsFunc(spans, func(other int) bool {
		o := p.Session.Spans[other]
		return o.Chain == sp.Chain && o.First <= sp.First && sp.First <= o.Last && o.Position < sp.Position
	})
}

// difference changes every turn by what the new text holds more than the old.
func (p *promptPlan) difference(variant, base prompts.Variant) {
	delta := p.count(variant.Text) - p.count(base.Text)
	p.ranges(func(r rollout.Request) bool { return r.Kind == rollout.KindTurn }, func(chain, first, last int) {
		p.plan.Additions = append(p.plan.Additions, replay.Addition{
			Chain: chain, First: first, Last: last, Position: positionOf(variant.Replaces), Kind: promptKinds[variant.Replaces], Tokens: &delta, Why: "prompt",
		})
	})
	p.warn("The log does not hold the text that is replaced; the one given as base counts.")
	p.tripwire(base.Text, variant.Text)
}

func (p *promptPlan) count(text string) int64 { return p.Count(p.Sizes.Encoding, text) }

// positionOf is the end of the region that a text belongs to.
func positionOf(target prompts.Target) int64 {
	if target == prompts.Tools {
		return int64(rollout.SlotSystem)<<slotBits - 1
	}
	return int64(rollout.SlotContext)<<slotBits - 1
}

func (p *promptPlan) add(values replay.Values) error {
	if values["add"] == "" {
		return nil
	}
	variant, err := prompts.Open(values["add"])
	if err != nil {
		return err
	}
	p.everywhere(variant, "added-text")
	return nil
}

// everywhere adds a text to every request. Requests that send another one's whole
// payload again carry it with that.
func (p *promptPlan) everywhere(variant prompts.Variant, why string) {
	p.ranges(func(rollout.Request) bool { return true }, func(chain, first, last int) {
		p.plan.Additions = append(p.plan.Additions, replay.Addition{
			Chain: chain, First: first, Last: last, Position: positionOf(variant.Replaces), Kind: promptKinds[variant.Replaces], Text: variant.Text, Why: why,
		})
	})
}

// ranges calls add for every stretch of requests of a chain that are wanted and
// have a payload of their own.
func (p *promptPlan) ranges(want func(rollout.Request) bool, add func(chain, first, last int)) {
	for chain, last := range p.last {
		first := 0
		for n := 1; n <= last+1; n++ {
			i, ok := p.index[placing{chain, n}]
			take := ok && p.Session.Requests[i].Base < 0 && want(p.Session.Requests[i])
			if take && first == 0 {
				first = n
			}
			if !take && first > 0 {
				add(chain, first, n-1)
				first = 0
			}
		}
	}
}

// tripwire names the rules that the new text loses.
func (p *promptPlan) tripwire(base, variant string) {
	losses, err := prompts.Check(base, variant)
	if err != nil {
		p.warn("The rules could not be checked: " + err.Error() + ".")
	}
	for _, loss := range losses {
		p.warn(loss.String())
	}
}

func (p *promptPlan) warn(text string) { p.plan.Warnings = append(p.plan.Warnings, text) }
