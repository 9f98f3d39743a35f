package compress

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	cases := []struct {
		command string
		want    Kind
	}{
		{"grep -rn foo .", Search},
		{"  rg foo\n", Search},
		{"find . -name '*.go'", Search},
		{"fd x", Search},
		{"ag x", Search},
		{"cat a.go", Source},
		{"head -5 a", Source},
		{"tail -f log", Source},
		{"sed -n 1,5p a", Source},
		{"sed -i s/a/b/ a", Other},
		{"git diff HEAD~1", Source},
		{"git show", Source},
		{"git status", Other},
		{"npm test", Log},
		{"npm run build", Log},
		{"yarn add x", Log},
		{"pnpm i", Log},
		{"bun exec x", Log},
		{"npm view x", Other},
		{"npm", Other},
		{"cargo build", Log},
		{"go test ./...", Log},
		{"make", Log},
		{"pip3 install x", Log},
		{"docker ps", Log},
		{"tsc --noEmit", Log},
		{"pytest -q", Log},
		// The pipe rules: last command for source and search, first for logs.
		{"npm test | tail -50", Source},
		{"npm test | grep FAIL", Search},
		{"npm test | tee out", Log},
		{"ls | wc -l", Other},
		{"cat a || echo none", Other},
		{"make || cat err", Source},
		{"cat a |", Other},
		// A pipe beside any quote is other, even where the pipe is in the quotes.
		{`grep "a|b" x`, Other},
		{"cat a | grep 'b'", Other},
		{"echo `date` | cat", Other},
		{`grep "a" x`, Search},
		// Blind spots kept on purpose.
		{"cd x && npm test", Other},
		{"FOO=1 make", Other},
		{"sudo make", Other},
		{"bash -lc 'go test'", Other},
		// Whole words.
		{"gofmt -l .", Other},
		{"category", Other},
		{"findutils", Other},
		{"makefile", Other},
		{"", Other},
		{"|", Other},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, Classify(c.command), "%q", c.command)
	}
}

func TestClassifyIgnoresSpaceAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringMatching(`(cat|npm test|rg|ls|go) [a-z|'&; ]{0,12}`).Draw(t, "command")
		assert.Equal(t, Classify(command), Classify("\n "+command+" \t"))
		if strings.ContainsRune(command, '|') && strings.ContainsRune(command, '\'') {
			assert.Equal(t, Other, Classify(command))
		}
	})
}
