package codex

import "strings"

// planTool keeps a checklist. Newer builds offer it only when asked to.
const planTool = "update_plan"

// planSections are the headings of Codex's own prompts that speak of the plan
// tool. A section named in planOnlyIf does so only where one of its lines begins
// with one of the texts.
var (
	planSections = []string{"## Planning", "## `update_plan`", "## Plan tool", "## Plan Mode vs update_plan tool"}
	planOnlyIf   = map[string][]string{"## Planning": {"You have access to an `update_plan` tool", "When `update_plan` is available, follow this section"}}
	planBullets  = []string{"- Use the plan tool ", "- If you create a checklist or task list,"}
)

// promptSent is the base prompt as it goes out. The log holds the model's own prompt
// whole, and says that it is the model's own (provenance); what it says of the plan
// tool is left out of the request unless that tool is offered
// (get_prompt_base_instructions in codex-rs/core/src/session/mod.rs). No record
// tells whether it was: a call of it does, and it is off by default.
func (b *builder) promptSent(base baseText) (text string, edited bool) {
	text = base.Text.V
	if base.Provenance.V.Type.V != "model" || b.f.planTool {
		return text, false
	}
	sent := withoutPlanTool(text)
	return sent, sent != text
}

// withoutPlanTool leaves out what a prompt of Codex says of the plan tool: whole
// sections, bullets with their indented lines, and a note on when to show progress
// with the blank line after it.
func withoutPlanTool(prompt string) string {
	lines := strings.SplitAfter(prompt, "\n")
	var out strings.Builder
	for i := 0; i < len(lines); {
		if n := planLines(lines[i:]); n > 0 {
			i += n
			continue
		}
		out.WriteString(lines[i])
		i++
	}
	return out.String()
}

// planLines is how many of the next lines are about the plan tool.
func planLines(lines []string) int {
	line := strings.TrimRight(lines[0], " \t\r\n")
	if n := planSection(line, lines); n > 0 {
		return n
	}
	if line == "Progress visibility:" && len(lines) > 1 && strings.HasPrefix(lines[1], "If update_plan is available") {
		if len(lines) > 2 && strings.TrimSpace(lines[2]) == "" {
			return 3
		}
		return 2
	}
	if !hasAnyPrefix(lines[0], planBullets) {
		return 0
	}
	n := 1
	for n < len(lines) && hasAnyPrefix(lines[n], []string{" ", "\t"}) {
		n++
	}
	return n
}

// planSection is the length of the section that starts with line, if it is about
// the plan tool. It ends before the next heading of its level or above.
func planSection(line string, lines []string) int {
	for _, heading := range planSections {
		if line != heading {
			continue
		}
		n, speaks := 1, planOnlyIf[heading] == nil
		for n < len(lines) && !hasAnyPrefix(lines[n], []string{"# ", "## "}) {
			speaks = speaks || hasAnyPrefix(lines[n], planOnlyIf[heading])
			n++
		}
		if speaks {
			return n
		}
	}
	return 0
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
