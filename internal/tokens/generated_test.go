package tokens

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/homes"
)

// generated calls f with so many megabytes of invented text, 100 KB at a time.
func generated(megabytes int, f func(text string) bool) {
	for n := range megabytes * 10 {
		if !f(homes.Text(kinds[n%len(kinds)], 100_000, uint64(n))) {
			return
		}
	}
}

// The counter equals tiktoken-go on as many megabytes as FCLOG_TOKENS_MB says: a
// gigabyte in make tokens-gigabyte, which takes half an hour.
func TestCountEqualsReferenceOnGeneratedText(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("FCLOG_TOKENS_MB"))
	if err != nil {
		megabytes = 1
	}
	c, texts := New(), 0
	generated(megabytes, func(text string) bool {
		texts++
		return assert.Equal(t, int64(len(reference()[O200K].EncodeOrdinary(text))), c.Count(O200K, text), "text %d", texts)
	})
	t.Logf("%d texts of 100 KB", texts)
}

// secondOpinion prints the counts of the texts in a JSON file by npm's tiktoken.
const secondOpinion = `
const { get_encoding } = require("tiktoken");
const texts = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
const out = {};
for (const name of ["o200k_base", "cl100k_base"]) {
  const enc = get_encoding(name);
  out[name] = texts.map((t) => enc.encode_ordinary(t).length);
}
console.log(JSON.stringify(out));
`

// npm's tiktoken, which is the reference implementation in WebAssembly, agrees:
// make tokens-npm. FCLOG_TIKTOKEN names the folder it is installed in.
func TestCountEqualsNpmTiktoken(t *testing.T) {
	folder := os.Getenv("FCLOG_TIKTOKEN")
	if folder == "" {
		t.Skip("npm's tiktoken is not there: make tokens-npm")
	}
	texts := []string{"it's \u017f's", "A中AA\n \n", " \u0301A", "x  \r\n y/\n/", "a\x7fb", strings.Repeat(" ", 300)}
	generated(5, func(text string) bool { texts = append(texts, text); return true })
	raw, err := json.Marshal(texts)
	require.NoError(t, err)
	file := t.TempDir() + "/texts.json"
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	cmd := exec.CommandContext(t.Context(), "node", "-e", secondOpinion, file)
	cmd.Dir = folder
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	require.NoError(t, err)
	var counts map[string][]int64
	require.NoError(t, json.Unmarshal(answer, &counts))
	for _, name := range []string{O200K, CL100K} {
		require.Len(t, counts[name], len(texts))
		for i, text := range texts {
			assert.Equal(t, counts[name][i], shared().Count(name, text), "%s, text %d", name, i)
		}
	}
}
