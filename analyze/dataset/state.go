package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// state remembers which files were imported as they are now. It is a cache:
// without it files are read again and found to be there already.
type state struct {
	mu       sync.Mutex
	Importer string              `json:"importer"`
	Files    map[string]imported `json:"files"` // by pathKey

	holders map[string]int // how many files any import noted with a part
}

type imported struct {
	Stamps []stamp `json:"stamps"` // of the file and those it is read with
	Part   string  `json:"part"`
	Stored string  `json:"stored"`           // its sessions file, relative to the dataset
	Failed bool    `json:"failed,omitempty"` // no session was found in it; no part, and it is tried again
}

// stamp tells a file from its later self.
type stamp struct {
	Path  string `json:"path"` // its pathKey
	Size  int64  `json:"size"` // -1 missing
	Mtime int64  `json:"mtime_ns"`
}

// stateOf is what an import notes, to begin with: all that is known, for a shard of
// its own files.
func (s *store) stateOf(known map[string]imported, inputs []Input) (*state, error) {
	st := &state{Importer: Importer, Files: maps.Clone(known), holders: map[string]int{}}
	for _, im := range known {
		st.holders[im.Part]++
	}
	if s.shard.None() {
		return st, nil
	}
	var err error
	st.Files, err = ownOf(known, inputs)
	return st, err
}

func (s *store) writeState(st *state) error {
	raw, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return err
	}
	return s.replaceFile(filepath.Join(s.dir, filepath.FromSlash(s.stateName())), append(raw, '\n'))
}

// unchanged reports whether the file was imported with these stamps and its part
// is still there.
func (st *state) unchanged(s *store, path string, now []stamp) bool {
	known, ok := st.Files[pathKey(path)]
	if !ok || known.Failed || !slices.Equal(known.Stamps, now) {
		return false
	}
	_, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(known.Stored)))
	return err == nil
}

// part is the part that a file was imported as; "" it was not.
func (st *state) part(path string) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.Files[pathKey(path)].Part
}

func (st *state) set(path string, im imported) {
	st.release(path)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.Files[pathKey(path)] = im
	st.holders[im.Part]++
}

// release forgets a file.
func (st *state) release(path string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if im, ok := st.Files[pathKey(path)]; ok {
		st.holders[im.Part]--
		delete(st.Files, pathKey(path))
	}
}

// held says whether a file that was not released is noted with the part.
func (st *state) held(part string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.holders[part] > 0
}

// forgetMaker forgets the file that a part was made from, if that is gone: it was given
// another name, or a copy is all that is left.
func (st *state) forgetMaker(c committed) {
	if c.key == "" || c.key != pathKey(c.file) { // a dataset without texts does not tell where the file was
		return
	}
	st.mu.Lock()
	noted := st.Files[c.key].Part == c.part
	st.mu.Unlock()
	if !noted {
		return
	}
	if _, err := os.Stat(c.file); errors.Is(err, fs.ErrNotExist) {
		st.release(c.file)
	}
}

// moved notes that what one sessions file held now stands in another.
func (st *state) moved(from, to string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for key, im := range st.Files {
		if im.Stored == from {
			im.Stored = to
			st.Files[key] = im
		}
	}
}

// pathKey stands for a path in the cache: names of folders tell more than a
// dataset without texts may hold.
func pathKey(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

func stamps(path string, depends []string) []stamp {
	out := make([]stamp, 0, 1+len(depends))
	for _, p := range append([]string{path}, depends...) {
		info, err := os.Stat(p)
		if err != nil {
			out = append(out, stamp{Path: pathKey(p), Size: -1})
			continue
		}
		out = append(out, stamp{Path: pathKey(p), Size: info.Size(), Mtime: info.ModTime().UnixNano()})
	}
	return out
}
