// Package shard divides work over files among several processes that do not talk
// to each other: which of them a file belongs to follows from its name alone.
package shard

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Shard is one of several processes that divide work among them. The zero value
// is none: all the work.
type Shard struct {
	Index int // 1-based
	Of    int // how many there are
}

// Max bounds how many shards there may be, far above the job arrays that
// schedulers take.
const Max = 1_000_000

// Parse reads a shard as people write it: 3/8 is the third of eight.
func Parse(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%q is no shard; use I/N, such as 1/4", text)
	}
	if n < 1 || n > Max {
		return Shard{}, fmt.Errorf("%q: there can be 1 to %d shards", text, Max)
	}
	if i < 1 || i > n {
		return Shard{}, fmt.Errorf("%q: the first of %d shards is 1, the last %d", text, n, n)
	}
	return Shard{Index: i, Of: n}, nil
}

// None says that the work is not divided.
func (s Shard) None() bool { return s.Of == 0 }

// String is what Parse reads.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Has says whether the work with this key is the shard's.
func (s Shard) Has(key string) bool { return s.None() || Of(key, s.Of) == s.Index }

// Of is the shard, 1 to n, that a key belongs to: the first eight bytes of its
// SHA-256 as a big-endian number, modulo n, plus 1. It depends on nothing else, so
// that every process, in any order and at any time, comes to the same.
func Of(key string, n int) int {
	sum := sha256.Sum256([]byte(key))
	return int(binary.BigEndian.Uint64(sum[:8])%uint64(n)) + 1
}

// Key is what decides the shard of a file: its path below the innermost of the
// named folders that it is in, with slashes, so that another mount point changes
// nothing. For a file that was named itself, and for others that came with it, it is
// the path below the folder of the named file.
func Key(named []string, file string) string {
	best, found := file, false
	for _, n := range named {
		for _, root := range []string{n, filepath.Dir(n)} {
			rel, ok := below(root, file)
			if ok && (!found || len(rel) < len(best)) {
				best, found = rel, true
			}
			if ok {
				break
			}
		}
	}
	return filepath.ToSlash(best)
}

// below is the path of a file relative to a folder that it is in.
func below(root, file string) (string, bool) {
	rel, err := filepath.Rel(root, file)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// Array writes ascending indices as job arrays take them: 2,5-7.
func Array(indices []int) string {
	var out []string
	for at := 0; at < len(indices); {
		end := at
		for end+1 < len(indices) && indices[end+1] == indices[end]+1 {
			end++
		}
		text := strconv.Itoa(indices[at])
		if end > at {
			text += "-" + strconv.Itoa(indices[end])
		}
		out = append(out, text)
		at = end + 1
	}
	return strings.Join(out, ",")
}
