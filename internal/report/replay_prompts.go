package report

import (
	"fmt"
	"io"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay"
)

// Prompts is what a prompt variant does to the rules that tokens hang on.
type Prompts struct {
	SchemaVersion int             `json:"schema_version"`
	Base          string          `json:"base"`
	Variant       string          `json:"variant"`
	BaseTokens    int64           `json:"base_tokens"` // o200k_base
	VariantTokens int64           `json:"variant_tokens"`
	Rules         []PromptRule    `json:"rules"`
	Lost          []prompts.Loss  `json:"lost"`
	Widths        []prompts.Width `json:"batch_widths"` // of the sessions named; empty without any
	Serialize     *replay.Report  `json:"serialize"`    // what one call at a time would have cost there; null without sessions
}

// PromptRule is one rule and where it stands.
type PromptRule struct {
	ID       string `json:"rule"`
	Title    string `json:"title"`
	State    string `json:"state"`    // kept, lost, gained, in neither, contradicted
	Sentence string `json:"sentence"` // that satisfies it: of the variant, else of the base; "" none
}

// PromptsTerminal writes a tripwire check for a terminal.
func PromptsTerminal(w io.Writer, p *Prompts, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(promptsDocument(p)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// PromptsMarkdown writes a tripwire check as Markdown.
func PromptsMarkdown(w io.Writer, p *Prompts, _ Options) error {
	_, err := io.WriteString(w, markdownDocument(promptsDocument(p)))
	return err
}

func promptsDocument(p *Prompts) document {
	d := document{title: "fclog prompts", subtitle: []text{fromLog(p.Base + " → " + p.Variant)}}
	verdict := "**No rule is lost.**"
	if n := int64(len(p.Lost)); n > 0 {
		verdict = fmt.Sprintf("**%s lost.**", term.Count(n, "rule is", "rules are"))
	}
	d.sections = append(d.sections, section{prose: []string{fmt.Sprintf("%s The variant has %s, the base %s.", verdict, term.Count(p.VariantTokens, "token", "tokens"), term.Exact(p.BaseTokens))}})
	for _, l := range p.Lost {
		s := section{title: "Lost: " + l.Rule, lines: []text{fromLog(l.Title), fromLog(l.Why)}}
		if l.Sentence != "" {
			s.lines = append(s.lines, text{s: l.Sentence, log: true, before: "- "})
		}
		if l.Contradiction != "" {
			s.lines = append(s.lines, text{s: l.Contradiction, log: true, before: "+ "})
		}
		d.sections = append(d.sections, s)
	}
	t := &table{columns: []column{{title: "rule"}, {title: "state"}, {title: "sentence", flex: true, min: 20}}}
	for _, r := range p.Rules {
		sentence := plain(term.Unknown)
		if r.Sentence != "" {
			sentence = logged(r.Sentence)
		}
		t.rows = append(t.rows, row{cells: []cell{plain(r.ID), plain(r.State), sentence}})
	}
	d.sections = append(d.sections, section{title: "Rules", table: t})
	if p.Serialize != nil {
		d.sections = append(d.sections, batchSection(p))
	}
	return d
}

// batchSection says what the rule on parallel calls is worth in the sessions named.
func batchSection(p *Prompts) section {
	t := &table{columns: []column{{title: "calls in one response", number: true}, {title: "responses", number: true}, {title: "read-only", number: true}}}
	for _, w := range p.Widths {
		t.rows = append(t.rows, row{cells: []cell{number(int64(w.Calls)), number(w.Responses), number(w.ReadOnly)}})
	}
	s := section{title: "What parallel calls are worth here", table: t}
	e := p.Serialize.Variants[0]
	switch {
	case e.Unsupported != nil:
		s.lines = []text{fromLog(*e.Unsupported + ".")}
	case e.StaticSavingTokens == nil:
		s.lines = []text{{s: fmt.Sprintf("One call at a time would have taken %s more; the log holds no usage.", term.Count(e.AddedRequests, "request", "requests"))}}
	default:
		usd := ""
		if v := e.StaticSavingUSD; v != nil {
			usd = ", " + dearer(*v)
		}
		s.lines = []text{{s: fmt.Sprintf("One call at a time would have taken %s and %s input tokens more%s.",
			term.Count(e.AddedRequests, "request", "requests"), term.Short(-*e.StaticSavingTokens), usd)}}
	}
	return s
}

// PromptList writes the prompts and rules that come with fclog.
func PromptList(w io.Writer, list []prompts.Variant, rules []prompts.Rule, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	d := document{title: "fclog prompts"}
	texts := &table{columns: []column{{title: "prompt"}, {title: "replaces"}, {title: "what it is", wrap: true, min: 24}}}
	for _, v := range list {
		texts.rows = append(texts.rows, row{cells: []cell{plain(v.Name), plain(string(v.Replaces)), plain(term.Safe(v.Title))}})
	}
	held := &table{columns: []column{{title: "rule"}, {title: "what it says", wrap: true, min: 30}}}
	for _, r := range rules {
		held.rows = append(held.rows, row{cells: []cell{plain(r.ID), plain(term.Safe(r.Title))}})
	}
	d.sections = []section{{title: "Prompts that come with fclog", table: texts}, {title: "Rules that the tripwire knows", table: held}}
	if err := t.document(d); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}
