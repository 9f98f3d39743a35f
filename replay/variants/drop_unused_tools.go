package variants

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// DropUnusedTools leaves out the definitions of tools that the session never
// called.
func DropUnusedTools() replay.Variant {
	return checked(replay.Variant{
		Name:  "drop-unused-tools",
		Title: "tool definitions that the session never called are left out",
		Doc: "Every request pays for all tool definitions. Those of tools that no call of the session used are left out from the start. " +
			"Only where the log holds the definitions. Which tools a session will need is known only afterwards, so this is what choosing them perfectly would save.",
		Needs: []string{"tool definitions"},
		Plan:  planDropUnusedTools,
	})
}

func planDropUnusedTools(v replay.View, _ replay.Values) replay.Plan {
	t := newTurns(v)
	called := calledTools(t.Session)
	plan := replay.Plan{}
	seen, unread, dropped := 0, 0, map[string]bool{}
	for item, it := range t.Session.Items {
		if it.Kind != rollout.ToolDefinitions {
			continue
		}
		seen++
		for _, span := range t.spans[item] {
			if t.Opaque(span) || t.Dropped(span) {
				continue
			}
			text, names, ok := keepCalled(it.Tool, t.Text(span), called)
			if !ok {
				unread++
				continue
			}
			if len(names) == 0 {
				continue
			}
			for _, name := range names {
				dropped[name] = true
			}
			plan.Edits = append(plan.Edits, replay.Edit{
				Span: span, From: t.Session.Spans[span].First, Text: text, Drop: text == "", Call: -1, Why: "unused-tool",
			})
		}
	}
	if seen == 0 {
		return replay.Plan{Unsupported: "the log does not hold the tool definitions"}
	}
	if len(dropped) > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s never called; that is known only after the session.", times(len(dropped), "defined tool was", "defined tools were")))
	}
	if unread > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s could not be read and stayed.", times(unread, "text of tool definitions", "texts of tool definitions")))
	}
	return plan
}

func calledTools(s *rollout.Session) map[string]bool {
	called := map[string]bool{}
	for _, c := range s.Calls {
		called[c.Tool] = true
	}
	for _, it := range s.Items {
		if it.Kind == rollout.ToolCall {
			called[it.Tool] = true
		}
	}
	return called
}

// keepCalled returns what is left of a text of definitions, "" for nothing, and the
// names of those left out. A text is one definition or a JSON list of them. ok is
// false where it cannot be read.
func keepCalled(tool, text string, called map[string]bool) (left string, names []string, ok bool) {
	raw := jsontext.Value(strings.TrimSpace(text))
	switch {
	case tool != "" && raw.Kind() != '[':
		if used([]string{tool}, called) {
			return text, nil, true
		}
		return "", []string{tool}, true
	case !raw.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return text, nil, false
	case raw.Kind() == '{':
		defined := toolNames(raw)
		if len(defined) == 0 || used(defined, called) {
			return text, nil, len(defined) > 0
		}
		return "", defined[:1], true
	case raw.Kind() != '[':
		return text, nil, false
	}
	return keepElements(raw, called)
}

// keepElements leaves the elements of a list whose tools were called as they are.
func keepElements(raw jsontext.Value, called map[string]bool) (left string, names []string, ok bool) {
	var kept []string
	for _, element := range elements(raw) {
		defined := toolNames(element)
		if len(defined) > 0 && !used(defined, called) {
			names = append(names, defined[0])
			continue
		}
		kept = append(kept, string(element))
	}
	switch {
	case len(names) == 0:
		return string(raw), nil, true
	case len(kept) == 0:
		return "", names, true
	}
	return "[" + strings.Join(kept, ",") + "]", names, true
}

// elements splits a valid JSON list.
func elements(raw jsontext.Value) []jsontext.Value {
	dec := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	var out []jsontext.Value
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return out
		}
		out = append(out, value.Clone())
	}
	return out
}

// nested are the members of a definition that hold further definitions.
var nested = []string{"function", "tools", "functions"}

// toolNames lists the names a definition defines: its own, first, and those of
// definitions inside it.
func toolNames(raw jsontext.Value) []string {
	if raw.Kind() == '[' {
		var names []string
		for _, element := range elements(raw) {
			names = append(names, toolNames(element)...)
		}
		return names
	}
	if raw.Kind() != '{' {
		return nil
	}
	var names []string
	members := objectMembers(raw)
	if name := members["name"]; name.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, name); err == nil {
			names = append(names, string(text))
		}
	}
	for _, member := range nested {
		if inner, ok := members[member]; ok {
			names = append(names, toolNames(inner)...)
		}
	}
	return names
}

func objectMembers(raw jsontext.Value) map[string]jsontext.Value {
	dec := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	out := map[string]jsontext.Value{}
	if _, err := dec.ReadToken(); err != nil {
		return out
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return out
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return out
		}
		out[key] = value.Clone()
	}
	return out
}

// used says whether any of the names was called, also as the last part of a longer
// name: servers put theirs in front.
func used(names []string, called map[string]bool) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if called[name] {
			return true
		}
		for tool := range called {
			for _, joint := range []string{"__", ".", "/", ":"} {
				if strings.HasSuffix(tool, joint+name) || strings.HasSuffix(name, joint+tool) {
					return true
				}
			}
		}
		return false
	})
}
