package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/variants"
)

type promptsFlags struct {
	outputFlags
	logs   []string
	prices []string
	fail   bool
}

func promptsCommand(a *app) *cobra.Command {
	f := &promptsFlags{}
	cmd := &cobra.Command{
		Use:   "prompts [BASE VARIANT]",
		Short: "Which load-bearing rules a new prompt keeps and which it loses",
		Long: `prompts checks a new system prompt against the old one: some rules carry the cost of
a task, such as making independent calls in one response. A rule that BASE holds and
VARIANT does not is named with the sentence that went.

BASE and VARIANT are text files or prompts that come with fclog; without them it lists
those and the rules. BASE may also be the log of a session: then what the session had in
that place is the base, where its log holds it. With --log it also says what calls in one response are worth in
your own sessions.`,
		Example: `  fclog prompts
  fclog prompts agent lean
  fclog prompts old.md new.md
  fclog prompts session.jsonl new.md
  fclog prompts old.md new.md --log ~/.freecode --fail
  fclog prompts agent lean --format json -o lost.json`,
		Args: checked(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return fmt.Errorf("VARIANT is missing")
			}
			return cobra.MaximumNArgs(2)(cmd, args)
		}),
		RunE: func(cmd *cobra.Command, args []string) error { return a.prompts(cmd, f, args) },
	}
	f.outputFlags.add(cmd, "term", "md", "json")
	flags := cmd.Flags()
	flags.StringArrayVar(&f.logs, "log", nil, "`PATH` of sessions that show what parallel calls are worth; may be repeated")
	flags.StringArrayVar(&f.prices, "prices", nil, "`FILE` of prices that override the built-in ones; may be repeated")
	flags.BoolVar(&f.fail, "fail", false, "exit with status 1 if a rule is lost")
	return cmd
}

func (a *app) prompts(cmd *cobra.Command, f *promptsFlags, names []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	rules, err := prompts.Rules()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return a.listPrompts(cmd, f, rules)
	}
	variant, err := prompts.Open(names[1])
	if err != nil {
		return err
	}
	base, err := a.basePrompt(cmd.Context(), names[0], variant.Replaces)
	if err != nil {
		return err
	}
	p := tripwire(rules, base, variant)
	if err := a.batching(cmd.Context(), f, p); err != nil {
		return err
	}
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags)}
	err = a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, p, true)
		case "md":
			return report.PromptsMarkdown(w, p, o)
		}
		return report.PromptsTerminal(w, p, o)
	})
	if err == nil && f.fail && len(p.Lost) > 0 {
		err = fmt.Errorf("%s loses %d of the rules of %s", variant.Name, len(p.Lost), base.Name)
	}
	return err
}

func (a *app) listPrompts(cmd *cobra.Command, f *promptsFlags, rules []prompts.Rule) error {
	if f.format != "term" || f.fail || len(f.logs) > 0 {
		return usage(cmd, "BASE and VARIANT are missing")
	}
	shipped, err := prompts.Shipped()
	if err != nil {
		return err
	}
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags)}
	return a.write(f.outputFlags, func(w io.Writer) error { return report.PromptList(w, shipped, rules, o) })
}

// tripwire says where every rule stands.
func tripwire(rules []prompts.Rule, base, variant prompts.Variant) *report.Prompts {
	before, after := base.Text, variant.Over(base.Text)
	count := tokens.New()
	p := &report.Prompts{
		SchemaVersion: 1, Base: base.Name, Variant: variant.Name, Lost: prompts.CheckRules(rules, before, after),
		BaseTokens: count.Count(tokens.O200K, before), VariantTokens: count.Count(tokens.O200K, after),
	}
	for _, r := range rules {
		was, _ := r.Satisfied(before)
		is, _ := r.Satisfied(after)
		against, _ := r.Contradicted(after)
		lost := slices.ContainsFunc(p.Lost, func(l prompts.Loss) bool { return l.Rule == r.ID })
		p.Rules = append(p.Rules, report.PromptRule{ID: r.ID, Title: r.Title, State: stateOf(lost, against != "", was != "", is != ""), Sentence: cmp.Or(is, was)})
	}
	return p
}

func stateOf(lost, against, was, is bool) string {
	switch {
	case lost:
		return "lost"
	case against:
		return "contradicted"
	case was && is:
		return "kept"
	case is:
		return "gained"
	}
	return "in neither"
}

// batching adds what calls in one response are worth in the sessions named.
func (a *app) batching(ctx context.Context, f *promptsFlags, p *report.Prompts) error {
	if len(f.logs) == 0 {
		return nil
	}
	recs, _, err := a.recorded(ctx, request{paths: f.logs, prices: f.prices})
	if err != nil {
		return err
	}
	engine, err := a.engine(f.prices)
	if err != nil {
		return err
	}
	serialize, err := variants.Parse("serialize")
	if err != nil {
		return err
	}
	p.Widths = widths(recs)
	p.Serialize, err = engine.Run(ctx, recs, []replay.Use{serialize}, replay.RunOptions{})
	return err
}

// widths adds up the batch widths of all sessions.
func widths(recs []replay.Recording) []prompts.Width {
	sums := map[int]prompts.Width{}
	for _, rec := range recs {
		for _, w := range prompts.Widths(rec.Session) {
			sum := sums[w.Calls]
			sums[w.Calls] = prompts.Width{Calls: w.Calls, Responses: sum.Responses + w.Responses, ReadOnly: sum.ReadOnly + w.ReadOnly}
		}
	}
	var out []prompts.Width
	for _, w := range sums {
		out = append(out, w)
	}
	slices.SortFunc(out, func(x, y prompts.Width) int { return cmp.Compare(x.Calls, y.Calls) })
	return out
}
