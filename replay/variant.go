package replay

import (
	"context"

	"github.com/fclog/fclog/rollout"
)

// Variant is a named change of policy.
type Variant struct {
	Name    string
	Title   string   // one line
	Doc     string   // a paragraph: what it does, what it needs from a log, what could go wrong
	Options []Option // in the order of the help text
	Needs   []string // log features it needs, as plain phrases
	// AsksModel marks what no rule of the harness can bring about: a prompt may ask
	// for it, and the model decides.
	AsksModel bool
	// Plan works out what the variant changes. It must be deterministic and must not
	// change the view.
	Plan func(View, Values) Plan
}

// Option is a setting of a variant.
type Option struct {
	Name    string
	Default string
	Doc     string
	Check   func(value string) error // says which values are allowed; nil: any text
}

// Values are the settings of one use of a variant, defaults filled in.
type Values map[string]string

// View is what a variant works on: a recording, with the texts that the variants
// before it in a combination have put in place.
type View struct {
	Recording
	Count CountText
	ctx   context.Context
	texts map[int]string // by span: text put in place of the recorded one from its first request on
	gone  map[int]bool   // by span: dropped from its first request on
	off   map[int]bool   // by request index: removed
}

// Context ends when the plan is not wanted any more. Only variants that wait for
// something need it.
func (v View) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// Text is what a span carries; "" for data without words.
func (v View) Text(span int) string {
	if t, ok := v.texts[span]; ok {
		return t
	}
	return v.Session.Texts[v.Session.Spans[span].Text].S
}

// Dropped says that an earlier variant has dropped the span.
func (v View) Dropped(span int) bool { return v.gone[span] }

// Removed says that an earlier variant has removed the request.
func (v View) Removed(request int) bool { return v.off[request] }

// Spans lists the spans of an item, in order of chain and first request.
func (v View) Spans(item int) []int {
	var out []int
	for i, sp := range v.Session.Spans {
		if sp.Item == item {
			out = append(out, i)
		}
	}
	return out
}

// Opaque says that a span carries data without words: nothing to edit.
func (v View) Opaque(span int) bool {
	return v.Session.Texts[v.Session.Spans[span].Text].Opaque
}

// Kind is the kind of the item that a span carries.
func (v View) Kind(span int) rollout.ItemKind {
	return v.Session.Items[v.Session.Spans[span].Item].Kind
}
