package dataset

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// committed is one part that counts, and where its rows stand.
type committed struct {
	part     string
	place    place
	file     string   // path it was imported from; the base name alone without texts
	key      string   // FileKey; "" an older import did not note it
	bytes    int64    // size of that file
	importer string   // that made it
	items    int64    // rows of items that its sessions noted
	sessions []string // their IDs
	hidden   []string // those of them that are superseded
}

// index lists the committed parts of a dataset.
type index struct {
	parts []committed
	at    map[string]int // one of them by part

	grouping sync.Once
	byKey    map[string][]int // parts by the key of their file
	keyless  []int            // parts whose file has none
}

// readIndex reads all sessions files.
func (s *store) readIndex() (*index, error) {
	files, err := s.files("sessions")
	if err != nil {
		return nil, err
	}
	ix := &index{at: map[string]int{}}
	for _, p := range files {
		if err := ix.add(s.path("sessions", p), p); err != nil {
			return nil, err
		}
	}
	return ix, nil
}

// indexed is what of a sessions row the index is made of.
type indexed struct {
	Part       string   `parquet:"part,dict"`
	SessionID  string   `parquet:"session_id,dict"`
	File       string   `parquet:"file"`
	FileBytes  int64    `parquet:"file_bytes"`
	FileKey    *string  `parquet:"file_key,optional"`
	Importer   string   `parquet:"importer,dict"`
	Superseded *bool    `parquet:"superseded,optional"`
	Contents   []string `parquet:"contents,list"`
}

func (ix *index) add(file string, p place) error {
	at := map[string]int{}
	return scanFile(file, func(rows []indexed) error {
		for _, r := range rows {
			i, ok := at[r.Part]
			if !ok {
				i = len(ix.parts)
				at[r.Part], ix.at[r.Part] = i, i
				ix.parts = append(ix.parts, committed{part: r.Part, place: p, file: r.File, key: deref(r.FileKey), bytes: r.FileBytes, importer: r.Importer})
			}
			ix.parts[i].sessions = append(ix.parts[i].sessions, r.SessionID)
			ix.parts[i].items += itemsNoted(r.Contents)
			if r.Superseded != nil && *r.Superseded {
				ix.parts[i].hidden = append(ix.parts[i].hidden, r.SessionID)
			}
		}
		return nil
	})
}

func itemsNoted(contents []string) int64 {
	for _, c := range contents {
		if n, ok := strings.CutPrefix(c, "items="); ok {
			rows, _ := strconv.ParseInt(n, 10, 64)
			return rows
		}
	}
	return 0
}

// find returns a committed part.
func (ix *index) find(part string) (committed, bool) {
	i, ok := ix.at[part]
	if !ok {
		return committed{}, false
	}
	return ix.parts[i], true
}

// eldersOf lists the other parts of a newcomer's file: those imported from it, and the
// one that it was found to hold though a copy of it made it.
func (ix *index) eldersOf(now *newcomer, text bool) []committed {
	out := ix.olderOf(now.committed, text)
	before, found := ix.find(now.before)
	same := func(c committed) bool { return c.part == before.part }
	if found && before.part != now.part && !slices.ContainsFunc(out, same) {
		out = append(out, before)
	}
	return out
}

// olderOf lists the other parts that were imported from the same file. Without
// texts a dataset keeps only base names, so where the key of the file was not noted
// the sessions must match too.
func (ix *index) olderOf(now committed, text bool) []committed {
	ix.grouping.Do(ix.group)
	at := slices.Concat(ix.byKey[now.key], ix.keyless)
	if now.key == "" {
		at = ix.all()
	}
	var out []committed
	for _, i := range at {
		if c := ix.parts[i]; c.part != now.part && sameFile(c, now, text) {
			out = append(out, c)
		}
	}
	return out
}

// group makes looking for the parts of a file independent of how many there are.
func (ix *index) group() {
	ix.byKey = map[string][]int{}
	for i, c := range ix.parts {
		if c.key == "" {
			ix.keyless = append(ix.keyless, i)
			continue
		}
		ix.byKey[c.key] = append(ix.byKey[c.key], i)
	}
}

func (ix *index) all() []int {
	out := make([]int, len(ix.parts))
	for i := range out {
		out[i] = i
	}
	return out
}

func sameFile(a, b committed, text bool) bool {
	if a.key != "" && b.key != "" {
		return a.key == b.key
	}
	return a.file == b.file && (text || slices.ContainsFunc(a.sessions, func(id string) bool { return slices.Contains(b.sessions, id) }))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// files lists the places of a table's files in a fixed order. The empty file
// that every table has is not among them.
func (s *store) files(table string) ([]place, error) {
	// Matched below the folder: its own path may hold what a pattern understands.
	root := os.DirFS(filepath.Join(s.dir, table))
	paths, err := fs.Glob(root, "source=*/month=*/*.parquet")
	if err != nil {
		return nil, err
	}
	var out []place
	for _, name := range paths {
		month := path.Dir(name)
		p := place{
			source: strings.TrimPrefix(path.Base(path.Dir(month)), "source="),
			month:  strings.TrimPrefix(path.Base(month), "month="),
			stem:   strings.TrimSuffix(path.Base(name), ".parquet"),
		}
		if p.source != "none" {
			out = append(out, p)
		}
	}
	return out, nil
}
