package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxArguments is the longest arguments that are taken apart for display.
const maxArguments = 64 << 10

// mainArguments are the keys whose value says what a call is about; it is shown
// first and without its key.
var mainArguments = []string{"command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url"}

// sideArguments say how a call ran, not what it did; they are left out.
var sideArguments = []string{
	"workdir", "cwd", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens", "description", "login", "shell", "tty",
	"justification", "with_escalated_permissions", "sandbox_permissions",
}

// arguments makes a call's arguments short and readable: the main one, then the
// others as key=value. What is no JSON object stays as it is.
func arguments(args string) string {
	if len(args) > maxArguments {
		return args
	}
	dec := jsontext.NewDecoder(strings.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return args
	}
	var main, others []string
	best := len(mainArguments)
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return args
		}
		name := key.String()
		value, err := dec.ReadValue()
		if err != nil {
			return args
		}
		shown := argument(value)
		if rank := slices.Index(mainArguments, name); rank >= 0 && rank < best {
			best = rank
			main = append([]string{shown}, main...)
			continue
		}
		if slices.Contains(sideArguments, name) {
			continue
		}
		others = append(others, fmt.Sprintf("%s=%s", name, shown))
	}
	if dec.PeekKind() != '}' {
		return args
	}
	return strings.Join(append(main, others...), " ")
}

// argument shows a string without quotes and a command line without the shell
// that runs it.
func argument(raw jsontext.Value) string {
	var s string
	if json.Unmarshal(raw, &s, jsontext.AllowInvalidUTF8(true)) == nil && raw.Kind() == '"' {
		return s
	}
	var words []string
	if json.Unmarshal(raw, &words, jsontext.AllowInvalidUTF8(true)) == nil && len(words) > 0 {
		if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2]
		}
		return strings.Join(words, " ")
	}
	return string(raw)
}
