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
			"What it saves is counted against what the model was really sent. The rules work on the whole output, so where the agent had cut it, they " +
			"need a log that keeps the whole beside it; without, it is left as it was and counted in a warning. Profile freecode is FreeCode's own (FREECODE_BASH_COMPRESS=1); " +
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
	p := &compressPlan{View: v, profile: profileOf(values), cut: map[int]bool{}, longer: map[int]bool{}}
	return replay.Plan{Edits: rewriteResults(v, false, p.rewrite), Warnings: p.warnings()}
}

// compressPlan is a compress plan under way.
type compressPlan struct {
	replay.View
	profile compress.Profile
	cut     map[int]bool // calls whose output was cut and is not kept whole
	longer  map[int]bool // calls of whose whole output the rules leave more than was sent
}

func (p *compressPlan) rewrite(r result, text string) (rewrite, bool) {
	if r.call < 0 || p.Session.Calls[r.call].Class != rollout.ShellTool {
		return rewrite{}, false
	}
	whole, kept := wholeOf(p.View, r, text)
	ownCut := wasCut(p.Session.Calls[r.call], text)
	if ownCut && !kept {
		p.cut[r.call] = true
		return rewrite{}, false
	}
	out, changed, lossy := compressed(p.profile, p.Session, r.call, whole, handleOf(p.profile, p.Session.Calls[r.call], text))
	to := rewrite{text: out, lossy: lossy, why: "repeated-lines"}
	if lossy {
		to.why = "log-middle"
	}
	// FreeCode's cut gives way to the profile's, which may leave more of the output.
	// What other agents do with long output they would do with this one too.
	if changed && ownCut && p.Count(p.Sizes.Encoding, out) > p.Count(p.Sizes.Encoding, text) {
		to.longer = true
		p.longer[r.call] = true
	}
	return to, changed
}

func (p *compressPlan) warnings() []string {
	var out []string
	if n := len(p.cut); n > 0 {
		out = append(out, fmt.Sprintf("session %s: %s left alone, as the agent had cut it before it was sent: what the rules would make of the whole is not known", p.Session.ID, times(n, "shell output was", "shell outputs were")))
	}
	if n := len(p.longer); n > 0 {
		out = append(out, fmt.Sprintf("session %s: %s longer than what was sent, as the rules leave more of the whole than the agent's cut did", p.Session.ID, times(n, "shell output becomes", "shell outputs become")))
	}
	return out
}

// wholeOf is what the rules work on: the whole output, where the log keeps it and
// the model was sent a part of it; else what was sent. Another text than the
// recorded result, a marker of a pruning or what an earlier variant made, is taken
// as it is.
func wholeOf(v replay.View, r result, text string) (whole string, kept bool) {
	if r.call < 0 {
		return text, false
	}
	c := v.Session.Calls[r.call]
	if c.Full == nil || c.ResultItem != r.item || text != v.Session.Texts[v.Session.Items[r.item].Text].S {
		return text, false
	}
	return v.Session.Texts[*c.Full].S, true
}

// wasCut says whether FreeCode's own cut marker stands in a result.
func wasCut(c rollout.Call, text string) bool {
	return c.Truncated != rollout.NotTruncated && alreadyCut.MatchString(text)
}

// handleOf is what the rest of an output can be asked for by: the ID in the marker
// that was sent, else the one the log tells.
func handleOf(p compress.Profile, c rollout.Call, sent string) string {
	if m := alreadyCut.FindAllStringSubmatch(sent, -1); c.Truncated != rollout.NotTruncated && len(m) > 0 && m[len(m)-1][1] != "" {
		return m[len(m)-1][1]
	}
	if c.Handle == "" && p.Name == compress.Freecode().Name {
		return c.ID
	}
	return c.Handle
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

// alreadyCut finds the marker of FreeCode's own cut and the handle it names.
var alreadyCut = regexp.MustCompile("\\.\\.\\. \\[truncated \\d+ chars total(?: — use the .output. tool with id=\"([^\"]+)\")?")

// compressed is what a profile makes of one part of a shell result. Only what was
// compressed is cut: how long all other output may be is no matter of compression.
func compressed(p compress.Profile, s *rollout.Session, call int, text, handle string) (out string, changed, lossy bool) {
	out, changed, lossy = p.Compress(p.Classify(s.Calls[call].Command), text, handle)
	if !changed || p.Cut <= 0 {
		return out, changed, lossy
	}
	cut, short := compress.Cut(out, handle, p.Cut, p.Cut/5)
	return cut, true, lossy || short
}
