package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
)

// family is three generations beside a stranger. Inputs: grandparent 1,000, its
// children 100 and 200, their child 50; 1,350 in all below the first.
func family() *analyze.Audit {
	a := sample()
	session := func(id string, parent *string, own, inclusive int64) analyze.SessionSummary {
		return analyze.SessionSummary{
			SessionID: id, Source: "codex", ParentSessionID: parent,
			Own:       analyze.Totals{Sessions: 1, Requests: 1, InputTokens: &own},
			Inclusive: analyze.Totals{Requests: 1, InputTokens: &inclusive},
		}
	}
	a.Sessions = []analyze.SessionSummary{
		session("child-a", ptr("top"), 100, 100), session("stranger", ptr("not-here"), 1_200, 1_200),
		session("grandchild", ptr("child-b"), 50, 50), session("top", nil, 1_000, 1_350), session("child-b", ptr("top"), 200, 250),
	}
	return a
}

var firstWord = regexp.MustCompile(`(?m)^  ((?:  )*(?:└ )?[a-z-]+[ab]?)  .*codex`)

func TestSessionTree(t *testing.T) {
	out := terminal(t, family(), report.Options{Width: 100, UTF8: true})
	var got []string
	for _, m := range firstWord.FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	assert.Equal(t, []string{"top", "└ child-b", "  └ grandchild", "└ child-a", "stranger"}, got)
	assert.Regexp(t, `top .* 1\.00K .* 1\.35K\n`, out)
	assert.Regexp(t, `child-b .* 200 .* 250\n`, out)
	assert.Regexp(t, `stranger .* 1\.20K .*–\n`, out, "no inclusive figure where there is nothing below")
	assert.Contains(t, strings.Join(strings.Fields(out), " "), "1 sub-agent started by a session that is not among these.")
}

func TestManySubAgentsAreFolded(t *testing.T) {
	a := family()
	for i := range 10 {
		s := a.Sessions[0]
		s.SessionID = fmt.Sprintf("more-%d", i)
		s.Inclusive.InputTokens, s.Own.InputTokens = ptr(int64(10)), ptr(int64(10))
		a.Sessions = append(a.Sessions, s)
	}
	out := terminal(t, a, report.Options{Width: 100, UTF8: true})
	assert.Contains(t, out, "… 7 more sub-agents") // 12 children, 5 shown
	assert.Equal(t, 3, strings.Count(out, "└ more-"))
	assert.Regexp(t, `7 more sub-agents .* 70 `, out)
}

// Logs may claim anything about their parents.
func TestParentsInACircle(t *testing.T) {
	a := family()
	a.Sessions[3].ParentSessionID = ptr("grandchild")
	out := terminal(t, a, report.Options{Width: 100, UTF8: true})
	for _, s := range a.Sessions {
		assert.Contains(t, out, s.SessionID)
	}
}

func TestSessionsWithoutSubAgents(t *testing.T) {
	a := family()
	for i := range a.Sessions {
		a.Sessions[i].ParentSessionID = nil
	}
	out := terminal(t, a, report.Options{Width: 100, UTF8: true})
	assert.NotContains(t, out, "inclusive")
	assert.NotContains(t, out, "Sub-agents")
}

// What was captured of sessions that are read anyway is no session more, and said
// in one line each.
func TestCopiesAreNamed(t *testing.T) {
	a := family()
	twin := a.Sessions[3]
	twin.SessionID, twin.Source, twin.Own, twin.Inclusive = "twin", "api-log", analyze.Totals{}, analyze.Totals{}
	below := twin
	below.SessionID, below.ParentSessionID = "twin-child", ptr("twin")
	a.Sessions = append(a.Sessions, twin, below)
	a.Copies = []analyze.Copy{
		{Source: "api-log", OwnerSource: "codex", Basis: "usage", Sessions: 1, Requests: 20},
		{Source: "api-log", OwnerSource: "opencode", Basis: "response", Sessions: 1, Requests: 5},
		{Source: "codex", OwnerSource: "codex", Basis: "history", Sessions: 2, Requests: 1},
		{Source: "codex", OwnerSource: "codex", Basis: "inherited", Sessions: 2, Requests: 3},
		{Source: "atif", OwnerSource: "codex", Basis: "session", Sessions: 1, Requests: 7},
		{Source: "codex", OwnerSource: "api-log", Basis: "response", Sessions: 1, Requests: 2},
	}
	for _, width := range []int{80, 160} {
		out := strings.Join(strings.Fields(terminal(t, a, report.Options{Width: width, UTF8: true})), " ")
		for _, line := range []string{
			"Counted once: 25 requests of captured bodies, already counted from the agent's own log.",
			"Counted once: 4 requests of copied history, counted in the session they come from.",
			"Counted once: 1 trajectory left out, made of a log that was read.",
			"Counted once: 2 requests whose usage the agent's log lacks, counted from captured bodies.",
		} {
			assert.Contains(t, out, line)
		}
		assert.NotContains(t, out, "twin")
	}
}

func TestRequestsByKind(t *testing.T) {
	a := sample()
	a.Kinds = []analyze.KindUsage{{Kind: "turn", Requests: 118, InputTokens: ptr(int64(8_940_000)), CostUSD: ptr(4.0)}}
	assert.NotContains(t, terminal(t, a, report.Options{Width: 80, UTF8: true}), "Requests by kind", "nothing but turns of the main agent")
	a.Kinds = append(a.Kinds,
		analyze.KindUsage{Kind: "sub-agent", Requests: 1, InputTokens: ptr(int64(60_000)), CostUSD: ptr(0.2)},
		analyze.KindUsage{Kind: "title", Requests: 1})
	for _, width := range []int{80, 160} {
		out := terminal(t, a, report.Options{Width: width, UTF8: true})
		assert.Regexp(t, `main agent +118 +8\.94M +99\.3 %.*\$4\.00`, out)
		assert.Regexp(t, `sub-agents +1 +60\.0K +0\.7 %.*\$0\.20`, out)
		assert.Regexp(t, `titles and summaries +1 +– +–.* –`, out)
	}
}
