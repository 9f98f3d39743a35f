// Package demo holds two bundled sessions, for a first look at fclog without logs
// of one's own: an invented agent repairs an invented project, with and without line
// numbers in what it reads. README.md tells how they are made.
package demo

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

//go:embed session.tar.zst
var session []byte

//go:embed candidate.tar.zst
var candidate []byte

// Unpack writes the session below a folder, laid out as in FreeCode's home, and
// returns the path of its event log.
func Unpack(dir string) (path string, err error) { return unpack(session, dir) }

// UnpackCandidate is Unpack for the same work of an agent whose reads come without
// line numbers: the other arm of an A/B.
func UnpackCandidate(dir string) (path string, err error) { return unpack(candidate, dir) }

func unpack(archive []byte, dir string) (path string, err error) {
	z, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return "", fmt.Errorf("unpacking the bundled session: %w", err)
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("unpacking the bundled session: %w", err)
		}
		name := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err := writeFile(name, t); err != nil {
			return "", err
		}
		if strings.HasSuffix(header.Name, "/events.jsonl") {
			path = name
		}
	}
	if path == "" {
		return "", fmt.Errorf("unpacking the bundled session: no event log: %w", fs.ErrNotExist)
	}
	return path, nil
}

func writeFile(name string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
