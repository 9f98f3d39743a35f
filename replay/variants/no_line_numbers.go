package variants

import (
	"fmt"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// NoLineNumbers drops the line-number prefixes of file reads.
func NoLineNumbers() replay.Variant {
	return checked(replay.Variant{
		Name:  "no-line-numbers",
		Title: "file reads without line-number prefixes",
		Doc: "Drops the numbers that tools put before the lines of a file, in every form the agents use, from results of read tools and shell commands. " +
			"Only blocks of consecutive numbers are taken, so numbered data stays. The content stays whole, but the model can no longer cite lines by number: " +
			"the estimate says how many later texts did, for numbers that stood nowhere else, and counts them as what the model may go back for.",
		Needs: []string{"text of tool results"},
		Plan:  planNoLineNumbers,
	})
}

func planNoLineNumbers(v replay.View, _ replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	edits := rewriteResults(v, false, func(r result, text string) (rewrite, bool) {
		if !numbered(v.Session, r) {
			return rewrite{}, false
		}
		stripped, _, ok := compress.LineNumbers(text)
		return rewrite{text: stripped, lossy: true, why: "line-numbers"}, ok
	})
	plan := replay.Plan{Edits: edits}
	if n := countCitations(v, edits); n > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("session %s: later on, %s a line by a number that stood only in a dropped prefix", v.Session.ID, times(n, "text of the model cites", "texts of the model cite")))
	}
	return plan
}

// numbered says whether a result may hold numbered lines of a file.
func numbered(s *rollout.Session, r result) bool {
	if r.call < 0 || s.Items[r.item].Kind != rollout.ToolResult {
		return false
	}
	class := s.Calls[r.call].Class
	return class == rollout.ReadTool || class == rollout.ShellTool
}

// times writes a count with the form that agrees with it.
func times(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
