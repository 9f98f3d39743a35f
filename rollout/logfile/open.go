package logfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// ErrNotLog marks a file that cannot be a session log: empty, binary, or a
// pointer to content kept elsewhere.
var ErrNotLog = errors.New("not a session log")

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	lfsMagic  = []byte("version https://git-lfs")
)

// bufferSize is the read size; long lines grow beyond it.
const bufferSize = 256 << 10

// open returns the decompressed content of a regular file, recognised by its
// first bytes. Content appended after the call is not read.
func open(path string) (io.Reader, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r, closer, err := decompress(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, closer, nil
}

func decompress(f *os.File) (io.Reader, io.Closer, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: not a regular file", ErrNotLog)
	}
	raw := bufio.NewReaderSize(io.LimitReader(f, info.Size()), bufferSize)
	head, err := raw.Peek(len(lfsMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("reading gzip: %w", err)
		}
		return z, closers{z, f}, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, fmt.Errorf("reading zstd: %w", err)
		}
		return z, closers{z.IOReadCloser(), f}, nil
	case bytes.HasPrefix(head, lfsMagic):
		return nil, nil, fmt.Errorf("%w: a Git LFS pointer stands here instead of the log; run `git lfs pull` first", ErrNotLog)
	}
	return raw, f, nil
}

type closers []io.Closer

func (cs closers) Close() error {
	var errs []error
	for _, c := range cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
