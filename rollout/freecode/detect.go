package freecode

import (
	"path/filepath"

	"github.com/fclog/fclog/rollout/logfile"
)

// Detect tells whether the first records of a file are FreeCode events. Every
// event carries a type, the session it belongs to and a sequence number.
func Detect(head [][]byte) bool {
	seen := 0
	for _, raw := range head {
		var e struct {
			Type        string `json:"type"`
			AggregateID string `json:"aggregateID"`
			Seq         *int64 `json:"seq"`
		}
		if logfile.Unmarshal(raw, &e) != nil {
			continue
		}
		if e.Type != "" && e.AggregateID != "" && e.Seq != nil {
			seen++
		}
	}
	return seen > 0 && 2*seen > len(head)
}

// Homes lists the folders where FreeCode keeps its session logs.
func Homes(getenv func(string) string) []string {
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".freecode", "rollout", "sessions")}
}

// Companions is nil: every FreeCode session is a single file of its own.
func Companions(string) []string { return nil }

// Depends lists the files of the message store that Read uses beside path.
func Depends(path string) []string {
	p := findStore(path)
	var out []string
	for _, f := range []string{p.messages, p.meta, p.memory} {
		if f != "" {
			out = append(out, f)
		}
	}
	return out
}
