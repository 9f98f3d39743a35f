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

// ErrElsewhere marks a pointer to a log whose content is kept elsewhere; it is
// also ErrNotLog.
var ErrElsewhere = fmt.Errorf("%w: a Git LFS pointer stands here instead of the log; run `git lfs pull` first", ErrNotLog)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	lfsMagic  = []byte("version https://git-lfs")
)

const (
	// bufferSize is the read size; long lines grow beyond it.
	bufferSize = 256 << 10
	// maxWindow is the most memory a zstd frame may ask for. Agents compress
	// with windows of a few MB; a hostile header asks for gigabytes.
	maxWindow = 256 << 20
)

// source is the decompressed content of a file.
type source struct {
	in         *bufio.Reader
	closer     io.Closer
	compressed bool
}

// open returns the decompressed content of a regular file, recognised by its
// first bytes. Content appended after the call is not read.
func open(path string, buffer int) (source, error) {
	// A named pipe would block the open itself: look before.
	if info, err := os.Stat(path); err != nil {
		return source{}, err
	} else if !info.Mode().IsRegular() {
		return source{}, fmt.Errorf("%s: %w: %s", path, ErrNotLog, irregular(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	s, err := decompress(f, buffer)
	if err != nil {
		f.Close()
		return source{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func irregular(mode os.FileMode) string {
	if mode.IsDir() {
		return "a folder"
	}
	return "not a regular file"
}

func decompress(f *os.File, buffer int) (source, error) {
	info, err := f.Stat()
	if err != nil {
		return source{}, err
	}
	if !info.Mode().IsRegular() {
		return source{}, fmt.Errorf("%w: %s", ErrNotLog, irregular(info.Mode()))
	}
	if info.Size() == 0 {
		return source{}, fmt.Errorf("%w: the file is empty", ErrNotLog)
	}
	if info.Size() < int64(buffer) {
		buffer = max(int(info.Size()), headBuffer)
	}
	raw := bufio.NewReaderSize(io.LimitReader(f, info.Size()), buffer)
	head, err := raw.Peek(len(lfsMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return source{}, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return source{}, fmt.Errorf("%w: the gzip header is damaged: %w", ErrNotLog, err)
		}
		return source{bufio.NewReaderSize(&measured{z, growth(info.Size())}, buffer), closers{z, f}, true}, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return source{}, fmt.Errorf("%w: the zstd header is damaged: %w", ErrNotLog, err)
		}
		return source{bufio.NewReaderSize(&measured{z, growth(info.Size())}, buffer), closers{z.IOReadCloser(), f}, true}, nil
	case bytes.HasPrefix(head, lfsMagic):
		return source{}, ErrElsewhere
	}
	return source{raw, f, false}, nil
}

type closers []io.Closer

func (cs closers) Close() error {
	var errs []error
	for _, c := range cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Content returns the decompressed bytes of a plain, gzip or zstd file, for
// files that are one document.
func Content(path string) (io.ReadCloser, error) {
	src, err := open(path, bufferSize)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{src.in, src.closer}, nil
}
