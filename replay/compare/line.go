package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay"
)

// flag is how FreeCode switches one variant on for the candidate of an A/B, and off
// for the baseline, whatever the build's default is.
type flag struct {
	variant, baseline, candidate string
	note                         string // how what it runs differs from the variant; "" not at all
}

// freecodeFlags are the variants besides prompt that FreeCode can flip per side of `freecode eval ab`;
// it refuses settings that it reads only at start.
func freecodeFlags() []flag {
	return []flag{
		{"compress", "env:FREECODE_BASH_COMPRESS=0", "env:FREECODE_BASH_COMPRESS=1", "it runs FreeCode's own rules and thresholds"},
		{"no-line-numbers", "env:FREECODE_READ_LINE_NUMBERS=1", "env:FREECODE_READ_LINE_NUMBERS=0", ""},
		{"tail-reminders", "env:FREECODE_EPHEMERAL_TAIL=0", "env:FREECODE_EPHEMERAL_TAIL=1", ""},
		{"batch-reads", "", appendFile, "FILE asks for independent calls in one response; the model decides"},
	}
}

// Line is a command that runs the A/B of a variant.
type Line struct {
	Command string   `json:"command"`
	Notes   []string `json:"notes"`
}

// LineFor is the command that runs the live A/B of a variant, with the trials that
// need asks for; false where the agent of the logs has no such command or cannot flip
// a part of the variant.
func LineFor(source string, use replay.Use, need *Need) (Line, bool) {
	if source != "freecode" {
		return Line{}, false
	}
	var l Line
	var baseline, candidate []string
	for _, step := range use.Steps {
		flags := flagsOf(step)
		if len(flags) == 0 {
			return Line{}, false
		}
		for _, f := range flags {
			if slices.Contains(candidate, f.candidate) {
				if f.candidate != appendFile {
					return Line{}, false
				}
				l.Notes = append(l.Notes, f.variant+": one FILE holds both texts")
				continue
			}
			candidate = append(candidate, f.candidate)
			if f.baseline != "" {
				baseline = append(baseline, f.baseline)
			}
			if f.note != "" {
				l.Notes = append(l.Notes, f.variant+": "+f.note)
			}
		}
		if step.Variant.Name != "prompt" && hasSettings(step) {
			l.Notes = append(l.Notes, step.Variant.Name+": FreeCode has no flag for the options")
		}
	}
	if len(candidate) == 0 {
		return Line{}, false
	}
	l.Command = "freecode eval ab SUITE"
	l.Command += " --candidate " + strings.Join(candidate, ",")
	if len(baseline) > 0 {
		l.Command += " --baseline " + strings.Join(baseline, ",")
	}
	if need != nil {
		l.Command += fmt.Sprintf(" --trials %d", max(need.PerTask, 2))
	}
	return l, true
}

// hasSettings says whether some option is not at its default.
func hasSettings(step replay.Step) bool {
	return slices.ContainsFunc(step.Variant.Options, func(o replay.Option) bool {
		v, given := step.Values[o.Name]
		return given && v != o.Default
	})
}

// flagsOf are the flags of one step; none where FreeCode cannot flip it.
func flagsOf(step replay.Step) []flag {
	if step.Variant.Name == "prompt" {
		return promptFlags(step.Values)
	}
	for _, f := range freecodeFlags() {
		if f.variant == step.Variant.Name {
			return []flag{f}
		}
	}
	return nil
}

// Files of a candidate's prompt.
const (
	systemFile = "env:FREECODE_SYSTEM_FILE=FILE"
	appendFile = "env:FREECODE_APPEND_SYSTEM_FILE=FILE"
)

// promptFlags tells a text that stands in for the system prompt from one on top of
// it. FreeCode takes no other tool definitions.
func promptFlags(values replay.Values) []flag {
	var out []flag
	if file := values["file"]; file != "" {
		switch p, err := prompts.Open(file); {
		case err == nil && p.Replaces == prompts.Tools:
			return nil
		case err == nil && p.Replaces == prompts.Nothing:
			out = append(out, flag{"prompt", "", appendFile, "FILE is the prompt variant's text"})
		default:
			out = append(out, flag{"prompt", "", systemFile, "FILE is the prompt variant's text"})
		}
	}
	if values["add"] != "" {
		out = append(out, flag{"prompt", "", appendFile, "FILE is the text of add"})
	}
	if len(out) == 2 && out[0].candidate != out[1].candidate {
		for i := range out {
			name := []string{"SYSTEM", "APPEND"}[i]
			out[i].candidate = strings.TrimSuffix(out[i].candidate, "FILE") + name
			out[i].note = strings.Replace(out[i].note, "FILE", name, 1)
		}
	}
	return out
}
