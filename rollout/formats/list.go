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
		freecode.Format(),
		codex.Format(),
		claudecode.Format(),
		copilot.Format(),
		atif.Format(),
		pi.Format(),
		gemini.Format(),
		opencode.Format(),
		sweagent.Format(),
		apilog.Format(),
	}
}
