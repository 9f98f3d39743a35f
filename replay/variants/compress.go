package variants

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Compress is the content-aware compression of shell output.
func Compress() replay.Variant {
	var profiles []string
	for _, p := range compress.Profiles() {
		profiles = append(profiles, p.Name)
	}
	return checked(replay.Variant{
		Name:  "compress",
		Title: "shell output compressed by what it is",
		Doc: "Judges the output of a shell command by the command: text of files is never touched, search results only lose repetitions of a line, " +
			"logs keep head, tail and every line that tells of a failure, and a marker says what was left out and how to get it. " +
			"It starts from what the model was really sent. Output that the agent itself had already cut is left as it was and counted in a warning: " +
			"the rules work on the whole output, which is not kept. Profile freecode is FreeCode's own (FREECODE_BASH_COMPRESS=1); " +
			"careful reads more commands and shorter output.",
		Options: []replay.Option{
			choice("profile", strings.Join(profiles, " or "), profiles...),
			ownOr("head", 0, "lines of a log kept from the start; empty: as the profile"),
			ownOr("tail", 0, "lines of a log kept from the end; empty: as the profile"),
			ownOr("min", 0, "characters above which output is compressed; empty: as the profile"),
			ownOr("cut", 0, "characters that compressed output is cut to, head and tail; 0: never; empty: as the profile"),
		},
		Needs: []string{"shell commands", "text of tool results"},
		Plan:  planCompress,
	})
}

// ownOr is an option that takes a whole number or nothing.
func ownOr(name string, low int, doc string) replay.Option {
	o := whole(name, low, low, doc)
	check := o.Check
	o.Default = ""
	o.Check = func(value string) error {
		if value == "" {
			return nil
		}
		return check(value)
	}
	return o
}

func profileOf(values replay.Values) compress.Profile {
	p, _ := compress.Named(values["profile"])
	for _, o := range []struct {
		name string
		to   *int
	}{{"head", &p.Head}, {"tail", &p.Tail}, {"min", &p.Min}, {"cut", &p.Cut}} {
		if values[o.name] != "" {
			*o.to = number(values, o.name)
		}
	}
	return p
}

func planCompress(v replay.View, values replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	if why := noCommands(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	p := profileOf(values)
	cut := map[int]bool{}
	edits := rewriteResults(v, false, func(r result, text string) (rewrite, bool) {
		if r.call < 0 || v.Session.Calls[r.call].Class != rollout.ShellTool {
			return rewrite{}, false
		}
		if wasCut(v.Session.Calls[r.call], text) {
			cut[r.call] = true
			return rewrite{}, false
		}
		out, changed, lossy := compressed(p, v.Session, r.call, text)
		why := "repeated-lines"
		if lossy {
			why = "log-middle"
		}
		return rewrite{text: out, lossy: lossy, why: why}, changed
	})
	plan := replay.Plan{Edits: edits}
	if n := len(cut); n > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("session %s: %s left alone, as the agent had cut it before it was sent: what the rules would make of the whole is not known", v.Session.ID, times(n, "shell output was", "shell outputs were")))
	}
	return plan
}

// wasCut says whether FreeCode's own cut marker stands in a result.
func wasCut(c rollout.Call, text string) bool {
	return c.Truncated != rollout.NotTruncated && alreadyCut.MatchString(text)
}

// noCommands says why shell output cannot be judged, or "" where it can.
func noCommands(s *rollout.Session) string {
	shell := false
	for _, c := range s.Calls {
		if c.Class != rollout.ShellTool {
			continue
		}
		if c.Command != "" {
			return ""
		}
		shell = true
	}
	if shell {
		return "this log does not hold the commands of its shell calls"
	}
	return ""
}

// alreadyCut finds the marker of FreeCode's own cut.
var alreadyCut = regexp.MustCompile(`\.\.\. \[truncated \d+ chars total`)

// compressed is what a profile makes of one part of a shell result. Only what was
// compressed is cut: how long all other output may be is no matter of compression.
func compressed(p compress.Profile, s *rollout.Session, call int, text string) (out string, changed, lossy bool) {
	c := s.Calls[call]
	handle := c.Handle
	if handle == "" && p.Name == compress.Freecode().Name {
		handle = c.ID
	}
	out, changed, lossy = p.Compress(p.Classify(c.Command), text, handle)
	if !changed || p.Cut <= 0 {
		return out, changed, lossy
	}
	cut, short := compress.Cut(out, handle, p.Cut, p.Cut/5)
	if short {
		return cut, true, true
	}
	return out, changed, lossy
}
