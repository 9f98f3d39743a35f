package rollout

import "context"

// Format is one agent's log format: how its files are recognised and read, and
// what is known of it. The package of each format exports one, as Format().
type Format struct {
	Name  string // as in Session.Source
	Title string // for people
	// Detect reports whether the first records of a file are of this format.
	Detect func(head [][]byte) bool
	// Read returns the sessions of a file, the main one first.
	Read func(ctx context.Context, path string) ([]*Session, error)
	// Companions names other session files that belong to the session of a file;
	// nil if there are none.
	Companions func(path string) []string
	// Depends names other files whose content Read uses; nil if there are none.
	Depends func(path string) []string
	// Homes names the folders and files where this agent keeps its logs, existing
	// or not.
	Homes func(getenv func(string) string) []string
	// Carrier recognises files of this format that hold no JSON records, such as
	// a database; nil if there are none.
	Carrier func(path string) bool
	About   About
}

// About is what a user should know of a format before trusting its figures. Each
// entry is a plain phrase.
type About struct {
	// Carriers are the kinds of files that are read.
	Carriers []string
	// Places says where the logs lie when Format.Homes cannot; "" otherwise.
	Places string
	// Versions are the versions of the agent that logs were read of, oldest first:
	// as Session.AgentVersion, or by their origin where logs name none.
	Versions []string
	// Unversioned says that logs do not name the agent's version.
	Unversioned bool
	// Lacks is what logs of this format do not hold.
	Lacks []Lack
	// Fidelity says how close rebuilt payloads are where no capture measured it; ""
	// where docs/fidelity.md has figures.
	Fidelity string
	// Limits are what fclog does not do with this format, or only guesses.
	Limits []string
}

// Lack is content that logs do not hold.
type Lack struct {
	What string // as in Session.Missing
	When string // which logs lack it; "" all
}
