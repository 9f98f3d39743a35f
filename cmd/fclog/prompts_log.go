package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// basePrompt opens what a prompt variant stands in for: a text, or what a session log
// holds in that place.
func (a *app) basePrompt(ctx context.Context, name string, target prompts.Target) (prompts.Variant, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return prompts.Open(name)
	}
	format, err := formats.Detect(name)
	if err != nil {
		return prompts.Open(name)
	}
	sessions, err := format.Read(ctx, name)
	if err != nil {
		return prompts.Variant{}, err
	}
	kind, what := rollout.SystemPrompt, "system prompt"
	if target == prompts.Tools {
		kind, what = rollout.ToolDefinitions, "tool definitions"
	}
	for _, s := range sessions {
		texts := frontTexts(s, kind)
		if len(texts) == 0 {
			continue
		}
		if len(texts) > 1 {
			a.warn("%s holds several versions of its %s; the first counts", name, what)
		}
		return prompts.Variant{Name: filepath.Base(name), Replaces: prompts.System, Text: texts[0]}, nil
	}
	return prompts.Variant{}, fmt.Errorf("%w: the log %s does not hold the %s; name a text file as BASE", errNothing, name, what)
}

// frontTexts are the distinct texts of a kind that requests of the main chain sent,
// in order; those of one request are one text.
func frontTexts(s *rollout.Session, kind rollout.ItemKind) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == 0 && s.Items[sp.Item].Kind == kind && !s.Texts[sp.Text].Opaque {
			spans = append(spans, sp)
		}
	}
	slices.SortStableFunc(spans, func(x, y rollout.Span) int { return cmp.Compare(x.Position, y.Position) })
	var out []string
	for _, r := range s.Requests {
		if r.Chain != 0 {
			continue
		}
		var parts []string
		for _, sp := range spans {
			if sp.First <= r.Number && r.Number <= sp.Last {
				parts = append(parts, s.Texts[sp.Text].S)
			}
		}
		if text := strings.Join(parts, "\n\n"); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
