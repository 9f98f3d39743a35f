// Package nearest guesses what a mistyped word or path was meant to be.
package nearest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Word is the candidate that a mistyped word most likely means: the one with the
// fewest typing mistakes, at most one per three characters; else one that the word
// begins. "" if none is near. Of equals the first counts.
func Word(word string, candidates []string) string {
	best, least := "", max(1, len([]rune(word))/3)+1
	for _, c := range candidates {
		if n := mistakes(strings.ToLower(word), strings.ToLower(c)); n < least {
			best, least = c, n
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(word)) {
			return c
		}
	}
	return ""
}

// mistakes is the optimal string alignment distance of two words: characters that are
// missing, too many, wrong, or swapped with their neighbour.
func mistakes(from, to string) int {
	a, b := []rune(from), []rune(to)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}

// Hint is the end of a message that names the nearest candidate: `, did you mean "x"?`; "" where none is near.
func Hint(word string, candidates []string) string {
	if near := Word(word, candidates); near != "" && near != word {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// Path is the existing path that a missing one most likely means: the first part
// of it that does not exist is replaced by the nearest name in the same folder. "" if none is near.
func Path(path string) string {
	missing := filepath.Clean(path)
	rest := ""
	for {
		up := filepath.Dir(missing)
		if info, err := os.Stat(up); err == nil && info.IsDir() {
			break
		}
		if up == missing {
			return ""
		}
		rest = filepath.Join(filepath.Base(missing), rest)
		missing = up
	}
	entries, err := os.ReadDir(filepath.Dir(missing))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(filepath.Dir(missing), e.Name(), rest)); err == nil {
			names = append(names, e.Name())
		}
	}
	near := Word(filepath.Base(missing), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(missing), near, rest)
}
