package replay

import (
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// Recording is one session as the replayer sees it: what was sent, sized. Requests
// that another session owns are marked Inherited and count nowhere.
type Recording struct {
	Session *rollout.Session
	Sizes   *measure.Measured
}

// CountText is the raw token count of a text in the encoding of the recordings.
type CountText func(encoding, text string) int64
