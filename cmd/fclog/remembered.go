package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/rollout/formats"
)

// An audit of many logs is remembered: what the report shows, in a file only the
// user can read. It is used again while nothing it came from has changed:
// the program, the logs and what is read with them (path, size, time), prices,
// selection, zone and the names used. Whatever else is asked for is read afresh.

const (
	// rememberAbove is the size of logs in bytes from which an audit takes seconds.
	rememberAbove = 16 << 20
	// rememberMost is how many audits are kept, the latest used.
	rememberMost = 32
	// restless is how long ago a log must have changed: one that changes again
	// within the clock's resolution has the same time.
	restless = 2 * time.Second
)

// remembered is where an audit is or will be kept.
type remembered struct {
	path    string
	files   []formats.File
	skipped []formats.Skipped
}

// fileState tells a file from its later self.
type fileState struct {
	Path  string
	Size  int64 // -1 missing
	Mtime int64 // Unix nanoseconds
}

// inputState is what an audit depends on.
type inputState struct {
	Program   fileState
	Folder    string // that relative paths start from
	Paths     []string
	Files     [][]fileState // each log, then what it is read with
	Formats   []string
	Skipped   []formats.Skipped
	Selection analyze.Selection
	Zone      string
	Redact    bool
	Prices    []string // hashes of files
}

// remember finds out where the audit of a request is kept; nil where it is not:
// datasets, streams, few bytes, logs that are being written, no folder for it.
func (a *app) remember(ctx context.Context, r request) *remembered {
	dir := a.cacheFolder()
	if dir == "" || len(r.paths) == 0 || r.demo || r.keep != "" || a.debug {
		return nil
	}
	for _, p := range r.paths {
		if once, err := readOnce(p); once || err != nil || dataset.Is(p) {
			return nil
		}
	}
	files, skipped, err := formats.Expand(ctx, r.paths)
	if err != nil {
		return nil // told where the logs are read
	}
	in := inputState{Paths: r.paths, Skipped: skipped, Selection: r.selection, Zone: zoneName(r.zone), Redact: r.redact, Prices: a.priceHashes(r.prices)}
	var bytes int64
	for _, f := range files {
		states := []fileState{fileStateOf(f.Path)}
		if f.Format.Depends != nil {
			for _, d := range f.Format.Depends(f.Path) {
				states = append(states, fileStateOf(d))
			}
		}
		for _, s := range states {
			if time.Since(time.Unix(0, s.Mtime)) < restless {
				return nil
			}
		}
		bytes += states[0].Size
		in.Files, in.Formats = append(in.Files, states), append(in.Formats, f.Format.Name)
	}
	program, programErr := os.Executable()
	folder, folderErr := os.Getwd()
	if bytes < rememberAbove || programErr != nil || folderErr != nil {
		return nil
	}
	in.Program, in.Folder = fileStateOf(program), folder
	raw, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(raw)
	return &remembered{path: filepath.Join(dir, hex.EncodeToString(sum[:])+".json"), files: files, skipped: skipped}
}

// cacheFolder is where audits are kept; "" where there is no home.
func (a *app) cacheFolder() string {
	if base := cmp.Or(a.getenv("XDG_CACHE_HOME"), a.getenv("LOCALAPPDATA")); filepath.IsAbs(base) {
		return filepath.Join(base, "fclog", "audits")
	}
	if home := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "fclog", "audits")
	}
	return ""
}

func fileStateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{Path: path, Size: -1}
	}
	return fileState{Path: path, Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}

// zoneName tells zones apart, also local ones, which have one name: by what the
// clock shows in winter and in summer.
func zoneName(zone *time.Location) string {
	if zone == nil {
		return ""
	}
	out := zone.String()
	for _, month := range []time.Month{time.January, time.July} {
		out += time.Date(2026, month, 1, 0, 0, 0, 0, zone).Format(" MST-0700")
	}
	return out
}

func (a *app) priceHashes(files []string) []string {
	if len(files) == 0 {
		files = []string{a.ownPrices()}
	}
	var out []string
	for _, f := range files {
		raw, err := smallfile.Read(f, pricing.MaxFile)
		sum := sha256.Sum256(raw)
		out = append(out, f, hex.EncodeToString(sum[:]))
		if err != nil {
			out = append(out, "unreadable")
		}
	}
	return out
}

// load returns the audit that was kept, nil if there is none. What reading the
// logs would have refused or warned of is refused and warned of here, too.
func (m *remembered) load(a *app, r request) (*analyze.Audit, error) {
	raw, err := os.ReadFile(m.path)
	if err != nil {
		return nil, nil
	}
	out := &analyze.Audit{}
	if json.Unmarshal(raw, out) != nil {
		return nil, nil
	}
	if err := a.target.spareAll(m.files, m.skipped); err != nil {
		return nil, err
	}
	if _, err := a.priceBook(r.prices); err != nil {
		return nil, err
	}
	now := time.Now()
	os.Chtimes(m.path, now, now)
	return out, nil
}

// keep writes an audit, unless reading it would give something else, or rights that
// may change left a log out. That it cannot be written is no fault of the audit.
func (m *remembered) keep(audit *analyze.Audit) {
	if slices.ContainsFunc(audit.Problems, func(p analyze.Problem) bool { return p.Kind == "unreadable" }) {
		return
	}
	raw, err := json.Marshal(audit)
	if err != nil {
		return
	}
	again := &analyze.Audit{}
	if json.Unmarshal(raw, again) != nil || !reflect.DeepEqual(audit, again) {
		return
	}
	dir := filepath.Dir(m.path)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-*") // readable by its owner alone
	if err != nil {
		return
	}
	_, err = f.Write(raw)
	if closing := f.Close(); err != nil || closing != nil || os.Rename(f.Name(), m.path) != nil {
		os.Remove(f.Name())
	}
	forget(dir)
}

// forget removes what has not been used for longest.
func forget(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= rememberMost {
		return
	}
	states := make([]fileState, 0, len(entries))
	for _, e := range entries {
		states = append(states, fileStateOf(filepath.Join(dir, e.Name())))
	}
	slices.SortFunc(states, func(x, y fileState) int { return cmp.Compare(y.Mtime, x.Mtime) })
	for _, s := range states[rememberMost:] {
		os.Remove(s.Path)
	}
}
