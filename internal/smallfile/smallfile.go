// Package smallfile reads files that people write by hand, such as settings: all at
// once, but never more than a stated size and never what has no end.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrRefused marks a file that is there and is not read: no regular file, or one
// that is too large.
var ErrRefused = errors.New("not read")

// Read returns the content of a regular file of at most so many bytes. What is no
// regular file is not even opened: a pipe without a writer would wait for ever.
func Read(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused(path, kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, refused(path, "larger than "+size(most))
	}
	return data, nil
}

func refused(path, why string) error { return fmt.Errorf("%s: %w: %s", path, ErrRefused, why) }

func kind(mode fs.FileMode) string {
	if mode.IsDir() {
		return "a folder"
	}
	return "not a regular file"
}

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
