package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func TestPromptWithoutPlanTool(t *testing.T) {
	for _, c := range []struct{ name, prompt, want string }{
		{"nothing of it", "You code.\n\n## Work\nDo it.\n", "You code.\n\n## Work\nDo it.\n"},
		{"a section goes up to the next heading", "A\n## Plan tool\nUse it.\n### Small\nstill\n## Work\nB", "A\n## Work\nB"},
		{"a section goes up to a larger heading", "A\n## `update_plan`\nUse it.\n# Next\nB", "A\n# Next\nB"},
		{"the last section", "A\n## Plan Mode vs update_plan tool\nThey differ.", "A\n"},
		{"planning that names the tool", "## Planning\n\nYou have access to an `update_plan` tool here.\n## B\n", "## B\n"},
		{"planning that does not", "## Planning\nThink of update_plan first.\n## B\n", "## Planning\nThink of update_plan first.\n## B\n"},
		{"bullets with their lines", "- One\n- Use the plan tool often\n  - and well\n\tso\n- Two\n- If you create a checklist or task list, keep it\n- Three", "- One\n- Two\n- Three"},
		{"a note with its blank line", "A\nProgress visibility:\nIf update_plan is available, use it.\n\nB\n", "A\nB\n"},
		{"a note at the end", "A\nProgress visibility:\nIf update_plan is available, use it.", "A\n"},
		{"another note", "Progress visibility:\nSay so.\n", "Progress visibility:\nSay so.\n"},
		{"empty", "", ""},
	} {
		assert.Equal(t, c.want, withoutPlanTool(c.prompt), c.name)
	}
}

// Only the model's own prompt is edited, and only while nothing shows the tool.
func TestPlanToolInPrompts(t *testing.T) {
	const (
		meta  = `{"timestamp":"2026-11-01T09:00:00.000Z","type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-000000000001","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/p","cli_version":"0.171.0","source":"exec","base_instructions":{"text":"You code.\n- If you create a checklist or task list, keep it.\n"%s}}}` + "\n"
		ask   = `{"timestamp":"2026-11-01T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}` + "\n"
		plan  = `{"timestamp":"2026-11-01T09:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{}","call_id":"c1"}}` + "\n"
		usage = `{"timestamp":"2026-11-01T09:00:03.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2,"total_tokens":12},"last_token_usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2,"total_tokens":12}}}}` + "\n"
		own   = `,"provenance":{"type":"model","model":"m"}`
		whole = "You code.\n- If you create a checklist or task list, keep it.\n"
	)
	for _, c := range []struct {
		name, provenance, more, want string
		origin                       rollout.Origin
	}{
		{"the model's own, tool not seen", own, "", "You code.\n", rollout.Inferred},
		{"the model's own, tool called", own, plan, whole, rollout.Logged},
		{"somebody else's", `,"provenance":{"type":"custom"}`, "", whole, rollout.Logged},
		{"older builds say nothing", "", "", whole, rollout.Logged},
	} {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(meta, c.provenance)+ask+c.more+usage), 0o600))
		s := readOne(t, path)
		require.Len(t, s.Requests, 1, c.name)
		first := s.Items[payload(s, s.Requests[0])[0].Item]
		assert.Equal(t, rollout.SystemPrompt, first.Kind, c.name)
		assert.Equal(t, c.want, s.Texts[first.Text].S, c.name)
		assert.Equal(t, c.origin, first.Origin, c.name)
	}
}
