package report

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// kindNames are the kinds of content as a reader would say them.
var kindNames = map[string]string{
	"system_prompt":    "system prompt",
	"tool_definitions": "tool definitions",
	"project_context":  "project context",
	"user_text":        "user text",
	"reminder":         "reminders",
	"assistant_text":   "assistant text",
	"reasoning":        "reasoning",
	"tool_call":        "call arguments",
	"tool_result":      "tool results",
	"image":            "images",
	"summary":          "summaries",
	"framing":          "framing",
	"unlogged":         "unlogged",
}

// kind names an item kind with its tool.
func kind(name string, tool *string) cell {
	label, known := kindNames[name]
	if !known {
		label = strings.ReplaceAll(name, "_", " ")
	}
	if tool == nil || *tool == "" {
		return plain(label)
	}
	c := logged(*tool)
	c.after = " · " + strings.TrimPrefix(strings.TrimPrefix(label, "tool "), "call ")
	return c
}

// words turns a stable key such as run-border into words.
func words(key string) string {
	return strings.NewReplacer("-", " ", "_", " ").Replace(key)
}

func number(n int64) cell   { return plain(term.Short(n)) }
func share(v *float64) cell { return plain(term.Opt(v, term.Percent)) }
func basis(b analyze.Basis) cell {
	return plain(string(b))
}

func optional(n *int64) cell { return plain(term.Opt(n, term.Short)) }

// requestRange is "12" or "12–40".
func requestRange(first, last int64) string {
	if first == last {
		return term.Exact(first)
	}
	return fmt.Sprintf("%s–%s", term.Exact(first), term.Exact(last))
}

// ratio is part of whole, nil where either is unknown or there is no whole.
func ratio(part, whole *int64) *float64 {
	if part == nil || whole == nil || *whole == 0 {
		return nil
	}
	v := float64(*part) / float64(*whole)
	return &v
}

// more says what a ranked list leaves out.
func more(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return "… and " + term.Count(int64(n), "more "+one, "more "+many)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
