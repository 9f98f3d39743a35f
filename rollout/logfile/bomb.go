package logfile

import (
	"errors"
	"io"
)

const (
	// maxRatio is how many times its size a compressed file may grow, beyond
	// freeRatioBytes. Logs of agents grow up to some fifty times; files that are made
	// to keep a reader busy, millions of times.
	maxRatio       = 1000
	freeRatioBytes = 1 << 30
)

// errBomb marks a compressed file that grows beyond every measure.
var errBomb = errors.New("the compressed file grows to more than a thousand times its size")

// measured ends a decompressed stream that grows beyond most bytes.
type measured struct {
	io.Reader
	left int64
}

func (m *measured) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errBomb
	}
	if int64(len(p)) > m.left {
		p = p[:m.left]
	}
	n, err := m.Reader.Read(p)
	m.left -= int64(n)
	return n, err
}

// growth is how many bytes a compressed file of that size may become.
func growth(size int64) int64 { return max(freeRatioBytes, maxRatio*size) }
