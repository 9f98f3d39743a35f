package fidelity

import (
	"time"

	"github.com/fclog/fclog/rollout"
)

// Slot is the region of a request a part was sent in.
type Slot string

const (
	Tools    Slot = "tools"
	System   Slot = "system"
	Messages Slot = "messages"
)

// Part is one separately sent piece of a request.
type Part struct {
	Slot   Slot             `json:"slot"`
	Kind   rollout.ItemKind `json:"kind"`    // bodies do not tell injected text from the user's own: user_text for role user, reminder for system and developer
	Role   rollout.Role     `json:"role"`    // "" none
	Name   string           `json:"name"`    // tool of a definition, call or result; "" none
	CallID string           `json:"call_id"` // "" none
	Chars  int64            `json:"chars"`   // Unicode code points
	Tokens int64            `json:"tokens"`  // 0 where the text has no words
	SHA256 string           `json:"sha256"`  // hex, of the UTF-8 text; of a tool call's compact JSON arguments
	Text   *string          `json:"-"`       // nil where only the hash is known
	Opaque bool             `json:"-"`       // image data or encrypted text: Tokens is no count of its text
}

// Request is one request that was really sent.
type Request struct {
	Index   int       // 0, 1, 2 … in the order they were sent
	Time    time.Time // zero unknown
	Thread  string    // conversation it belongs to; "" unknown
	ID      string    // response ID; "" unknown
	LogLine int       // line of the agent's log that tells of it; 0 unknown
	Status  int       // HTTP status; 0 unknown
	Failed  bool      // no answer came: an error status or a broken stream
	Model   string    // "" unknown
	Usage   rollout.Usage
	Parts   []Part
}
