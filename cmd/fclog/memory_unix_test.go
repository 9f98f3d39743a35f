//go:build linux || darwin

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measured runs a command and returns the most memory it had, in bytes.
func (h home) measured(args ...string) (result, int64) {
	h.t.Helper()
	return h.measuredWith(nil, args...)
}

// measuredWith is measured with variables of the environment.
func (h home) measuredWith(env []string, args ...string) (result, int64) {
	h.t.Helper()
	var out, errOut bytes.Buffer
	cmd := h.command(context.Background(), args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	require.NotNil(h.t, cmd.ProcessState)
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" {
		most <<= 10 // kilobytes there
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}, most
}

// TestLineOfTwoGigabytes: one line that no agent can have written costs its own
// content and a few times the longest line, and is told; what stands around it counts.
func TestLineOfTwoGigabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("reads two gigabytes")
	}
	h := newHome(t)
	path := filepath.Join(h.dir, "a.jsonl")
	hole(t, path, logOf(asked("a", 0, "Begin"), said("a", 1, "m1", 100, 0, 5, words("One"))), said("a", 2, "m2", 200, 0, 7, words("Two"))+"\n", 2<<30)
	got, most := h.measured("query", path, "SELECT (SELECT sum(input_tokens) FROM requests) AS input, kind, line FROM problems", "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "input,kind,line\n300,line-too-long,3\n", got.stdout)
	assert.Less(t, most, int64(3<<30))
}

// TestManySmallRecords: 300,000 records of one session cost memory in proportion, and
// neither time nor memory by their square.
func TestManySmallRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads 50 MB")
	}
	h := newHome(t)
	const records = 300_000
	var b bytes.Buffer
	b.WriteString(logOf(asked("a", 0, "Begin"), said("a", 1, "m1", 100, 0, 5, words("One"))))
	for i := 2; i < records; i++ {
		fmt.Fprintf(&b, `{"parentUuid":"u%d","isSidechain":false,"sessionId":"a","version":"2.1.44","uuid":"u%d","timestamp":"2026-03-01T11:00:00.000Z","type":"system","subtype":"informational","content":"x"}`+"\n", i-1, i)
	}
	path := filepath.Join(h.dir, "a.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	got, most := h.measured("query", path, "SELECT requests, input_tokens FROM (SELECT count(*) AS requests, sum(input_tokens) AS input_tokens FROM requests)", "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "requests,input_tokens\n1,100\n", got.stdout)
	assert.Less(t, most, int64(records*3000+300<<20), "3 kB a record, and what every command takes")
}

// TestMemoryStaysAsTheCorpusGrows: sixteen times the logs take no more than twice the
// memory to import where garbage is collected as Go usually does, and less than 500 MB
// where it may gather.
func TestMemoryStaysAsTheCorpusGrows(t *testing.T) {
	if testing.Short() {
		t.Skip("imports 100 MB")
	}
	h := newHome(t)
	peak := func(n int, env ...string) int64 {
		logs := filepath.Join(h.dir, fmt.Sprint("logs", n))
		for i := range n {
			id := fmt.Sprintf("s%d", i)
			lines := []string{asked(id, 0, "Begin")}
			for k := 1; k < 40; k++ {
				text := bytes.Repeat(fmt.Appendf(nil, "word %d of %d; ", k, i), 1000)
				lines = append(lines, said(id, k, fmt.Sprintf("m%d-%d", i, k), 100, 0, 5, words(string(text))))
			}
			mustWrite(t, filepath.Join(logs, id+".jsonl"), logOf(lines...))
		}
		got, most := h.measuredWith(env, "import", logs, "-o", filepath.Join(h.dir, fmt.Sprint("ds", n, env)))
		require.Equal(t, 0, got.code, got.stderr)
		return most
	}
	few, many, gathered := peak(10, "GOGC=100"), peak(160, "GOGC=100"), peak(160)
	t.Logf("%d MB and %d MB, %d MB", few>>20, many>>20, gathered>>20)
	assert.Less(t, many, 2*few)
	assert.Less(t, gathered, int64(500e6))
}
