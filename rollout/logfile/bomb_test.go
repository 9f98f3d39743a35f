package logfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMeasured(t *testing.T) {
	got, err := io.ReadAll(&measured{strings.NewReader("0123456789"), 4})
	assert.Equal(t, "0123", string(got))
	assert.ErrorIs(t, err, errBomb)
	got, err = io.ReadAll(&measured{strings.NewReader("0123"), 5})
	assert.Equal(t, "0123", string(got))
	assert.NoError(t, err)
	assert.EqualValues(t, freeRatioBytes, growth(1000), "small ones may grow more")
	assert.EqualValues(t, 5_000_000_000, growth(5_000_000))
}

// TestBombs: a file of some hundred kilobytes that would grow to more than a gigabyte
// costs bounded memory, and what stands before is read.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks two gigabytes")
	}
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			require.NoError(t, err)
			return z
		},
	} {
		var b bytes.Buffer
		z := pack(&b)
		io.WriteString(z, `{"a":1}`+"\n")
		for range freeRatioBytes>>20 + 1 {
			io.WriteString(z, strings.Repeat("a", 1<<20))
		}
		require.NoError(t, z.Close())
		require.Less(t, b.Len(), 4<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		records, problems := read(t, write(t, b.String()))
		runtime.ReadMemStats(&after)
		assert.Equal(t, []string{`1:{"a":1}`}, records, name)
		assert.Equal(t, []string{"0:truncated-file", "2:line-too-long"}, problems, name)
		assert.Less(t, after.HeapSys-min(before.HeapSys, after.HeapSys), uint64(3<<30), "a few times the longest line that is taken")
	}
}
