package compare

import (
	"fmt"
	"strings"
)

// flag is how FreeCode switches one variant on for the candidate of an A/B, and off
// for the baseline, whatever the build's default is.
type flag struct {
	variant, baseline, candidate string
	note                         string // how what it runs differs from the variant; "" not at all
}

// freecodeFlags are the variants that FreeCode can flip per side of `freecode eval ab`;
// it refuses settings that it reads only at start.
func freecodeFlags() []flag {
	return []flag{
		{"compress", "env:FREECODE_BASH_COMPRESS=0", "env:FREECODE_BASH_COMPRESS=1", "it runs FreeCode's own rules and thresholds"},
		{"no-line-numbers", "env:FREECODE_READ_LINE_NUMBERS=1", "env:FREECODE_READ_LINE_NUMBERS=0", ""},
		{"tail-reminders", "env:FREECODE_EPHEMERAL_TAIL=0", "env:FREECODE_EPHEMERAL_TAIL=1", ""},
		{"prompt", "", "env:FREECODE_SYSTEM_FILE=FILE", "FILE is the prompt variant's text"},
		{"batch-reads", "", "env:FREECODE_APPEND_SYSTEM_FILE=FILE", "FILE asks for independent calls in one response; the model decides"},
	}
}

// Line is a command that runs the A/B of a variant.
type Line struct {
	Command string   `json:"command"`
	Notes   []string `json:"notes"`
}

// LineFor is the command that runs the live A/B of a variant, as --variant names it
// (a+b, options after a colon), with the trials that need asks for; false where the
// agent of the logs has no such command or cannot flip a part of the variant.
func LineFor(source, variant string, need *Need) (Line, bool) {
	if source != "freecode" {
		return Line{}, false
	}
	var l Line
	var baseline, candidate []string
	for step := range strings.SplitSeq(variant, "+") {
		name, options, _ := strings.Cut(step, ":")
		f, ok := flagOf(name)
		if !ok {
			return Line{}, false
		}
		if f.baseline != "" {
			baseline = append(baseline, f.baseline)
		}
		candidate = append(candidate, f.candidate)
		if f.note != "" {
			l.Notes = append(l.Notes, name+": "+f.note)
		}
		if options != "" && !strings.Contains(f.candidate, "=FILE") {
			l.Notes = append(l.Notes, name+": FreeCode has no flag for the options")
		}
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

func flagOf(variant string) (flag, bool) {
	for _, f := range freecodeFlags() {
		if f.variant == variant {
			return f, true
		}
	}
	return flag{}, false
}
