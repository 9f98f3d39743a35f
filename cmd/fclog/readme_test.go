package main_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateReadme = flag.Bool("update-readme", false, "put the current output into README.md")

// picture is a block of README.md that shows the beginning of a command's output.
var picture = regexp.MustCompile("(?s)(<!-- picture: fclog ([^\n]*) -->\n```text\n)(.*?)(```\n<!-- end of picture -->)")

// pictureEnd is the line before which the picture of a long report is cut.
const pictureEnd = "\nCache breaks\n"

func TestReadmeShowsRealOutput(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(path)
	require.NoError(t, err)
	m := picture.FindStringSubmatch(string(readme))
	require.NotNil(t, m, "README.md has a picture")
	got := newHome(t).run(strings.Fields(m[2])...)
	require.Equal(t, 0, got.code, got.stderr)
	shown, _, _ := strings.Cut(got.stdout, pictureEnd)
	if *updateReadme {
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(readme), m[0], m[1]+shown+m[4], 1)), 0o644))
		return
	}
	assert.Equal(t, shown, m[3], "go test ./cmd/fclog -run Readme -update-readme, and read the difference")
}
