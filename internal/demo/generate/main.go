// Generate makes the bundled sessions of fclog: an invented agent, simulated by
// FreeCode's rules of August 2026, repairs an invented project, once as it was and once without
// line numbers in front of what it reads.
//
// Run it from the root of the repository: go run ./internal/demo/generate
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	target    = "internal/demo/session.tar.zst"
	candidate = "internal/demo/candidate.tar.zst"
)

func main() {
	if err := errors.Join(write(target, simulate(false)), write(candidate, simulate(true))); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write(name string, files []file) error {
	data, err := archive(files)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// file is one file of FreeCode's home folder.
type file struct {
	path    string
	content []byte
}

// archive packs files in order of path, without times or owners, so that equal
// files give equal bytes.
func archive(files []file) ([]byte, error) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		if err := t.WriteHeader(&tar.Header{Name: f.path, Mode: 0o644, Size: int64(len(f.content)), Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
