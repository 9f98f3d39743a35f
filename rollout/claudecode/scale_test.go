package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longSession writes a session of n requests, each with two parallel calls.
func longSession(t testing.TB, n int) string {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	fmt.Fprintln(f, user1)
	parent := "u1"
	for i := range n {
		for c, id := range []string{"x", "y"} {
			fmt.Fprintf(f, `{"type":"assistant","uuid":"a%d%s","parentUuid":"%s","sessionId":"s","requestId":"q%d","message":{"id":"m%d","model":"claude-x","content":[{"type":"tool_use","id":"c%d%s","name":"Read","input":{"file_path":"/f%d"}}],"usage":{"input_tokens":%d,"output_tokens":60}}}`+"\n", i, id, parent, i, i, i, id, i, 1000+i*800)
			parent = fmt.Sprintf("a%d%s", i, id)
			fmt.Fprintf(f, `{"type":"user","uuid":"r%d%s","parentUuid":"%s","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d%s","content":"%d %s"}]},"toolUseResult":{"file":{"content":"%s"}}}`+"\n", i, id, parent, i, id, i, strings.Repeat("text ", 200), strings.Repeat("copy ", 200))
			if c == 1 {
				parent = fmt.Sprintf("r%d%s", i, id)
			}
		}
	}
	return path
}

// Each request carries all before it, so storing requests x items would show as
// spans: there must be one per item.
func TestLongSessionStaysLinear(t *testing.T) {
	s := read(t, longSession(t, 2000))[0]
	require.Len(t, s.Requests, 2000)
	items := 1 + 2000*4
	assert.Len(t, s.Items, items)
	assert.Len(t, s.Spans, items-4, "the last response and its results were not sent any more")
	assert.Len(t, spansAt(s, 1999), items-4)
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{500, 2000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := longSession(b, n)
			info, err := os.Stat(path)
			require.NoError(b, err)
			b.SetBytes(info.Size())
			for b.Loop() {
				read(b, path)
			}
		})
	}
}
