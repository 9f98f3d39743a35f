package analyze

import (
	"fmt"
	"strings"
)

// savingNotes say what is counted for every technique.
var savingNotes = map[string]string{
	"output-compression":   "all results of shell commands",
	"line-number-prefixes": "line numbers in front of the lines of file reads",
	"recurring-block":      "system prompt, tool definitions, project context, reminders, and the constant part of what is not logged",
	"inline-batching":      "requests that only polled background work or answered a notification that told nothing new, and what they left in later ones",
	"repeats-and-re-reads": "strict repeats and overlapping re-reads, calls and results, polls and to-do lists apart",
	"serial-chains":        "requests that one response with several read-only calls would have saved",
	"cache-breaks":         "sent again because the cached prefix ended: paid at full or write price, not fewer tokens sent",
}

func (a *auditor) savings() error {
	figures, err := published()
	if err != nil {
		return err
	}
	a.audit.Savings, err = collect(a, "savings", Params{}, func(s scan, v *Saving) error {
		var input, requests *int64
		var estimated bool
		if err := s(&v.Technique, &v.AddressableTokens, &v.AddressableCarriedTokens, &input, &requests, &v.Share, &estimated); err != nil {
			return err
		}
		v.AddressableRequests = requests
		v.Note = savingNotes[v.Technique]
		v.Basis = a.savingBasis(v.Technique, estimated)
		if figure := figures[v.Technique]; figure != nil {
			text := figure.String()
			v.Published = &text
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.addOutputKinds()
}

func (a *auditor) savingBasis(technique string, estimated bool) Basis {
	switch {
	case technique == "cache-breaks":
		return Measured
	case estimated:
		return Estimated
	}
	return a.basis
}

// addOutputKinds completes the note on output compression: which kinds of output
// the shell results are decides what may be done with them.
func (a *auditor) addOutputKinds() error {
	type kind struct {
		name    *string
		carried int64
	}
	kinds, err := collect(a, "shell-output", Params{}, func(s scan, v *kind) error {
		var skip any
		return s(&v.name, &skip, &skip, &v.carried, &skip)
	})
	if err != nil {
		return err
	}
	total := int64(0)
	for _, k := range kinds {
		total += k.carried
	}
	if total == 0 {
		return nil
	}
	var parts []string
	for _, k := range kinds {
		name := "unknown"
		if k.name != nil {
			name = *k.name
		}
		parts = append(parts, fmt.Sprintf("%s %.0f %%", name, 100*float64(k.carried)/float64(total)))
	}
	for i := range a.audit.Savings {
		if s := &a.audit.Savings[i]; s.Technique == "output-compression" {
			s.Note += ": " + strings.Join(parts, ", ")
		}
	}
	return nil
}
