package compress

import "strings"

// Kind is what the output of a shell command is, judged by the command alone.
type Kind string

const (
	Source Kind = "source" // text of files: never compressed
	Search Kind = "search" // one match a line
	Log    Kind = "log"    // builds, tests, installs
	Other  Kind = "other"  // everything else
)

// Profile is one policy of compression. Lengths are UTF-16 code units, as
// JavaScript counts them.
type Profile struct {
	Name string // freecode, careful
	Head int    // lines kept from the start of a log
	Tail int    // lines kept from the end of a log
	Min  int    // a text is compressed only when it is longer than this
	Cut  int    // a text longer than this is cut to its head and tail afterwards; 0 never

	careful bool
}

// Freecode is FreeCode's compression of shell output with its own thresholds
// (flag FREECODE_BASH_COMPRESS, off by default).
func Freecode() Profile {
	return Profile{Name: "freecode", Head: 40, Tail: 60, Min: 30_000, Cut: maxModelOutput}
}

// Careful classifies more commands, works on shorter texts, takes terminal noise
// out of logs first and knows the failure lines of more tools. It looks at the text
// too: what a log command prints is left alone where it does not read like a log.
func Careful() Profile {
	return Profile{Name: "careful", Head: 40, Tail: 60, Min: 8_000, Cut: maxModelOutput, careful: true}
}

// Profiles lists the profiles.
func Profiles() []Profile { return []Profile{Freecode(), Careful()} }

// Named returns the profile of that name.
func Named(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Classify says what the output of a command is.
func (p Profile) Classify(command string) Kind {
	if p.careful {
		return classifyCareful(command)
	}
	return Classify(command)
}

// Compress shortens a text of the given kind, without the cut. The handle is what
// the rest can be asked for by; the careful profile leaves it out of the markers
// where it is "". changed is false, and out the text itself, where the kind is not
// to be touched, the text is not long enough or would not become shorter. lossy
// says that lines were left out that cannot be told from what remains.
func (p Profile) Compress(kind Kind, text, handle string) (out string, changed, lossy bool) {
	if kind != Search && kind != Log || !longer(text, p.Min) {
		return text, false, false
	}
	plain := text
	if p.careful && kind == Log {
		plain = withoutNoise(text)
		if !reports(plain) {
			return text, false, false
		}
	}
	lines := p.collapse(strings.Split(plain, "\n"))
	if kind == Log {
		lines, lossy = p.shorten(lines, handle)
	}
	out = strings.Join(lines, "\n")
	if units(out) >= units(text) {
		return text, false, false
	}
	return out, true, lossy
}

// Apply is what the model gets: the text compressed, then cut.
func (p Profile) Apply(kind Kind, text, handle string) (out string, changed, lossy bool) {
	out, changed, lossy = p.Compress(kind, text, handle)
	if p.Cut <= 0 {
		return out, changed, lossy
	}
	short, cut := Cut(out, handle, p.Cut, min(cutTail, p.Cut/5))
	return short, changed || cut, lossy || cut
}
