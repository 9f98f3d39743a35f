package apilog

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grow writes a log of n requests of one conversation, each with two messages
// more than the one before: the last has 2n-1. volatile puts a text that changes
// behind the history of every request, as reminders are.
func grow(t testing.TB, n int, volatile bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grow.jsonl")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	var history strings.Builder
	history.WriteString(`{"role":"user","content":"go"}`)
	for i := range n {
		tail := ""
		if volatile {
			tail = fmt.Sprintf(`,{"role":"user","content":"<system-reminder>now %d</system-reminder>"}`, i)
		}
		fmt.Fprintf(w, `{"timestamp":%d,"request":{"model":"m","system":"s","messages":[%s%s]},"response":{"id":"r%d","content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"echo %d"}}],"usage":{"input_tokens":%d,"output_tokens":1}}}`+"\n",
			1777885200+i, history.String(), tail, i, i, i, i+1)
		fmt.Fprintf(&history, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"echo %d"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}`,
			i, i, i, strings.Repeat("x", 200)+fmt.Sprint(i))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return path
}

// TestGrowingHistory: a history that is sent again with every request costs what
// its distinct parts cost. 250 requests carry 1 + 1 + 2k parts each, in all
// 250·2 + 250·249 = 62,750; the spans are one per part.
func TestGrowingHistory(t *testing.T) {
	const n = 250
	sessions := read(t, grow(t, n, false))
	require.Len(t, sessions, 1)
	s := sessions[0]
	require.Len(t, s.Requests, n)
	assert.Len(t, s.Spans, 2+2*(n-1))
	assert.Len(t, s.Calls, n)
	carried := 0
	for _, sp := range s.Spans {
		carried += sp.Last - sp.First + 1
	}
	assert.Equal(t, 2*n+n*(n-1), carried)

	s = read(t, grow(t, n, true))[0]
	require.Len(t, s.Requests, n, "the reminder is no new conversation")
	assert.Len(t, s.Spans, 2+2*(n-1)+n, "and costs one span a request")
}

// TestMemoryOfGrowingHistory: memory kept after reading grows with the distinct
// text, not with the file. Twice the requests make the file four times as large;
// what is kept may only double.
func TestMemoryOfGrowingHistory(t *testing.T) {
	kept := func(n int) float64 {
		path := grow(t, n, false)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := newReader(path)
		log, err := os.Open(path)
		require.NoError(t, err)
		defer log.Close()
		lines := bufio.NewReaderSize(log, 1<<20)
		for line := 1; ; line++ {
			raw, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			r.record(raw, line)
		}
		lines = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		return float64(after.HeapAlloc) - float64(before.HeapAlloc)
	}
	small, large := kept(125), kept(250)
	t.Logf("125 requests keep %.0f KB, 250 keep %.0f KB", small/1024, large/1024)
	assert.Less(t, large, 3*small+256*1024)
}
