package formats

import (
	"github.com/fclog/fclog/rollout/apilog"
	"github.com/fclog/fclog/rollout/atif"
	"github.com/fclog/fclog/rollout/claudecode"
	"github.com/fclog/fclog/rollout/codex"
	"github.com/fclog/fclog/rollout/copilot"
	"github.com/fclog/fclog/rollout/freecode"
	"github.com/fclog/fclog/rollout/gemini"
	"github.com/fclog/fclog/rollout/opencode"
	"github.com/fclog/fclog/rollout/pi"
	"github.com/fclog/fclog/rollout/sweagent"
)

// All is the formats fclog reads. A new one is a new line here.
func All() List {
	return List{
		{freecode.Name, "FreeCode", freecode.Detect, freecode.Read, freecode.Companions, freecode.Depends, freecode.Homes, nil},
		{codex.Name, "Codex", codex.Detect, codex.Read, codex.Companions, codex.Depends, codex.Homes, nil},
		{claudecode.Name, "Claude Code", claudecode.Detect, claudecode.Read, claudecode.Companions, claudecode.Depends, claudecode.Homes, nil},
		{copilot.Name, "Copilot CLI", copilot.Detect, copilot.Read, copilot.Companions, copilot.Depends, copilot.Homes, nil},
		{atif.Name, "ATIF", atif.Detect, atif.Read, atif.Companions, atif.Depends, atif.Homes, nil},
		{pi.Name, "pi", pi.Detect, pi.Read, pi.Companions, pi.Depends, pi.Homes, nil},
		{gemini.Name, "Gemini CLI", gemini.Detect, gemini.Read, gemini.Companions, gemini.Depends, gemini.Homes, nil},
		{opencode.Name, "OpenCode", opencode.Detect, opencode.Read, opencode.Companions, opencode.Depends, opencode.Homes, opencode.Carrier},
		{sweagent.Name, "SWE-agent", sweagent.Detect, sweagent.Read, sweagent.Companions, sweagent.Depends, sweagent.Homes, nil},
		{apilog.Name, "API log", apilog.Detect, apilog.Read, apilog.Companions, apilog.Depends, apilog.Homes, nil},
	}
}
