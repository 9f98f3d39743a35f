package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
)

// Task says what a trial was about. Equal Case, Checksum, Name or Prompt mean the
// same task, in this order of trust. Different cases are different tasks; that the
// others differ proves nothing, as folders made per run differ in all but the prompt.
type Task struct {
	Case     string `json:"case"`     // ID of the case in a suite; "" unknown
	Checksum string `json:"checksum"` // of the task's files; "" unknown
	Name     string `json:"name"`     // "" unknown
	Prompt   string `json:"prompt"`   // PromptHash; "" unknown
}

// Label is a short name for people.
func (t Task) Label() string {
	return cmp.Or(t.Case, t.Name, short(t.Checksum), short(t.Prompt), "unknown task")
}

func short(hash string) string { return hash[:min(len(hash), 8)] }

// PromptHash is the SHA-256, hex, of what users said on the main chain, injected
// context left out: the user texts, white space as single blanks, one a line. ""
// if the log holds none.
func PromptHash(s *rollout.Session) string {
	onMain := map[int]bool{}
	for _, sp := range s.Spans {
		if sp.Chain == 0 {
			onMain[sp.Item] = true
		}
	}
	var steps []string
	for i, it := range s.Items {
		if it.Kind != rollout.UserText || !onMain[i] {
			continue
		}
		if text := strings.Join(strings.Fields(s.Texts[it.Text].S), " "); text != "" {
			steps = append(steps, text)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(steps, "\n")))
	return hex.EncodeToString(sum[:])
}

// group puts trials of the same task together. It returns the group of each trial,
// numbered in order of appearance, and the task of each group. Links are made by
// the most trusted key first; none joins two different cases.
func group(trials []Task) (of []int, tasks []Task) {
	parent := make([]int, len(trials))
	caseOf := make([]string, len(trials))
	for i, t := range trials {
		parent[i], caseOf[i] = i, t.Case
	}
	find := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	link := func(i, j int) {
		i, j = find(i), find(j)
		if i == j || caseOf[i] != "" && caseOf[j] != "" && caseOf[i] != caseOf[j] {
			return
		}
		i, j = min(i, j), max(i, j)
		parent[j], caseOf[i] = i, cmp.Or(caseOf[i], caseOf[j])
	}
	for _, key := range taskKeys() {
		first := map[string]int{}
		for i, t := range trials {
			k := key(t)
			if k == "" {
				continue
			}
			if before, seen := first[k]; seen {
				link(before, i)
			} else {
				first[k] = i
			}
		}
	}
	of = make([]int, len(trials))
	var roots []int
	for i := range trials {
		root := find(i)
		g := slices.Index(roots, root)
		if g < 0 {
			g = len(roots)
			roots, tasks = append(roots, root), append(tasks, trials[i])
			tasks[g].Case = caseOf[root]
		}
		of[i] = g
	}
	return of, tasks
}

func taskKeys() []func(Task) string {
	return []func(Task) string{
		func(t Task) string { return t.Case },
		func(t Task) string { return t.Checksum },
		func(t Task) string { return t.Name },
		func(t Task) string { return t.Prompt },
	}
}
