package compare

import (
	"slices"
	"strings"
)

// ByArm puts the trials of one folder into arms by what their harness recorded of
// model and settings, in order of the arms' names; a trial without such a record is
// in none and counted as unknown. The names hold only the words that differ.
func ByArm(trials []Trial) (names []string, sorted [][]Trial, unknown int) {
	for _, t := range trials {
		if t.Arm == "" {
			unknown++
		} else if !slices.Contains(names, t.Arm) {
			names = append(names, t.Arm)
		}
	}
	slices.Sort(names)
	sorted = make([][]Trial, len(names))
	for _, t := range trials {
		if i := slices.Index(names, t.Arm); i >= 0 {
			sorted[i] = append(sorted[i], t)
		}
	}
	return differing(names), sorted, unknown
}

// differing leaves out the words that all names have, but never a whole name.
func differing(names []string) []string {
	var out []string
	for i, name := range names {
		own := slices.DeleteFunc(strings.Fields(name), func(word string) bool {
			return !slices.ContainsFunc(names, func(other string) bool { return !slices.Contains(strings.Fields(other), word) })
		})
		if len(own) == 0 {
			own = []string{names[i]}
		}
		out = append(out, strings.Join(own, " "))
	}
	return out
}
