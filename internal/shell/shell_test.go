package shell

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCut(t *testing.T) {
	for line, want := range map[string]struct {
		command string
		joint   Joint
		rest    string
	}{
		"":                       {"", List, ""},
		"ls":                     {"ls", List, ""},
		"a | b":                  {"a ", Pipe, " b"},
		"a |& b":                 {"a ", Pipe, " b"},
		"a || b":                 {"a ", List, " b"},
		"a && b":                 {"a ", List, " b"},
		"a; b":                   {"a", List, " b"},
		"a\nb":                   {"a", List, "b"},
		"a & b":                  {"a ", List, " b"},
		"a 2>&1 | b":             {"a 2>&1 ", Pipe, " b"},
		"a &> f; b":              {"a &> f", List, " b"},
		"rg 'x|y' | head":        {"rg 'x|y' ", Pipe, " head"},
		`rg "a\"|b" ; c`:         {`rg "a\"|b" `, List, " c"},
		`a \| b`:                 {`a \| b`, List, ""},
		`a '\' | b`:              {`a '\' `, Pipe, " b"},
		"echo 'never closed | b": {"echo 'never closed | b", List, ""},
	} {
		command, joint, rest := Cut(line)
		assert.Equal(t, want.command, command, line)
		assert.Equal(t, want.joint, joint, line)
		assert.Equal(t, want.rest, rest, line)
	}
}

func TestWords(t *testing.T) {
	assert.Equal(t, []Word{{"sed", false}, {"-n", false}, {"1,5p", true}, {"my file", true}}, Words(`sed -n '1,5p' "my file"`, ""))
	assert.Equal(t, []Word{{"a b", false}, {"", true}, {`c\d"e`, true}, {`\n`, true}}, Words(`a\ b '' "c\d\"e" '\n'`, ""))
	assert.Equal(t, []Word{{"(a", false}, {"b)", false}}, Words("(a\tb)", ""))
	assert.Equal(t, []Word{{"a", false}, {"b(c)", true}}, Words(`(a "b(c)")`, "()"))
	assert.Equal(t, []Word{{`a\`, false}}, Words(`a\`, ""))
	assert.Nil(t, Words("  ", ""))
}
