// Package hostile is the one list of texts that every output is tested with.
package hostile

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed hostile.txt
var list string

// Texts returns them all. It panics if the list is not as it should be; only tests
// use it.
func Texts() []string {
	var out []string
	for n, line := range strings.Split(list, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		text, err := parse(line)
		if err != nil {
			panic(fmt.Sprintf("hostile.txt:%d: %v", n+1, err))
		}
		out = append(out, text)
	}
	return out
}

func parse(line string) (string, error) {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", err
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return "", err
	}
	rest := strings.TrimSpace(line[len(quoted):])
	if rest == "" {
		return text, nil
	}
	times, ok := strings.CutPrefix(rest, "*")
	if !ok {
		return "", fmt.Errorf("what is %q?", rest)
	}
	n, err := strconv.Atoi(strings.TrimSpace(times))
	return strings.Repeat(text, max(n, 0)), err
}

// Short are the texts that are no longer than a line or two, for outputs that have
// many of them.
func Short() []string {
	var out []string
	for _, text := range Texts() {
		if len(text) < 1000 {
			out = append(out, text)
		}
	}
	return out
}
