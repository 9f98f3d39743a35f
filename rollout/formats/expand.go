package formats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout/atif"
	"github.com/fclog/fclog/rollout/logfile"
)

// File is a log file whose format is known.
type File struct {
	Path   string
	Format Format
	// PartOf is the path of the session file that this one, a sub-agent's,
	// belongs to; "" for a session of its own.
	PartOf string
}

// Skipped is a file or folder that was named or met and not used.
type Skipped struct {
	Path    string
	Reason  string // one plain sentence part; holds no text of a log
	Foreign bool   // whole, and of something else: met in a folder, not named
}

// ErrNothing says that no log was found in all that was named.
var ErrNothing = errors.New("no session log found")

// Expand turns files and folders into log files, in the order named, folders in
// order of path; each file comes once.
func Expand(ctx context.Context, paths []string) ([]File, []Skipped, error) {
	return All().Expand(ctx, paths)
}

// Expand turns files and folders into log files. A folder is searched through,
// links included. A session file brings its companions. What cannot be used is
// listed in the second result, except what is plainly no log inside a folder.
// A path that does not exist is an error; so is finding nothing at all
// (ErrNothing).
func (l List) Expand(ctx context.Context, paths []string) ([]File, []Skipped, error) {
	e := &expansion{list: l, ctx: ctx, seen: map[string]bool{}}
	for _, path := range paths {
		if err := e.named(path); err != nil {
			return nil, nil, err
		}
	}
	e.preferPlain()
	e.preferNative()
	e.dropUsed()
	tie(e.files)
	if len(e.files) == 0 {
		return nil, e.skipped, e.nothing(paths)
	}
	return e.files, e.skipped, nil
}

// expansion is one Expand under way.
type expansion struct {
	list    List
	ctx     context.Context
	files   []File
	skipped []Skipped
	unknown []Skipped       // files of records in no known format
	seen    map[string]bool // real paths of files and folders met
	looked  int             // files looked at
}

// named takes a path from the command line.
func (e *expansion) named(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return e.folder(path)
	}
	format, ok := e.file(path, true)
	if !ok || format.Companions == nil {
		return e.ctx.Err()
	}
	for _, companion := range format.Companions(path) {
		e.file(companion, false)
	}
	return e.ctx.Err()
}

// folder walks a folder and everything below it, each real folder once.
func (e *expansion) folder(path string) error {
	if !e.first(path) {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		e.skip(path, reason(err, path))
	}
	for _, entry := range entries {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		child := filepath.Join(path, entry.Name())
		if err := e.child(child, entry); err != nil {
			return err
		}
	}
	return nil
}

func (e *expansion) child(path string, entry os.DirEntry) error {
	mode := entry.Type()
	if mode&os.ModeSymlink != 0 {
		info, err := os.Stat(path)
		if err != nil {
			e.skip(path, "a link that leads nowhere")
			return nil
		}
		mode = info.Mode().Type()
	}
	switch {
	case mode.IsDir():
		return e.folder(path)
	case mode.IsRegular():
		e.file(path, false)
	}
	return nil
}

// file looks at one file. Named files always get a reason when they are of no
// use; files met in a folder only when they could have been logs. Only for that
// does the name count.
func (e *expansion) file(path string, named bool) (Format, bool) {
	if !e.first(path) {
		return Format{}, false
	}
	e.looked++
	told := named || strings.Contains(filepath.Base(path), ".jsonl")
	if !told {
		like, err := logfile.Sniff(path)
		if err != nil {
			e.skip(path, reason(err, path))
			return Format{}, false
		}
		if !like && !e.list.carried(path) {
			return Format{}, false
		}
	}
	format, head, err := e.list.look(path)
	switch {
	case err == nil:
		e.files = append(e.files, File{Path: path, Format: format})
		return format, true
	case errors.Is(err, ErrUnknown) && named:
		e.skip(path, ErrUnknown.Error()+": "+saw(head[0]))
	case errors.Is(err, ErrUnknown) && (told || len(head) > 1):
		e.unknown = append(e.unknown, Skipped{Path: path, Reason: ErrUnknown.Error() + ": " + saw(head[0]), Foreign: true})
	case errors.Is(err, ErrUnknown):
		// A single object is a settings or data file of something else.
	case told || !errors.Is(err, logfile.ErrNotLog) || errors.Is(err, logfile.ErrElsewhere):
		e.skip(path, reason(err, path))
	}
	return Format{}, false
}

// first reports whether a real file or folder is met for the first time.
func (e *expansion) first(path string) bool {
	real := realPath(path)
	if e.seen[real] {
		return false
	}
	e.seen[real] = true
	return true
}

func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}

func (e *expansion) skip(path, reason string) {
	e.skipped = append(e.skipped, Skipped{Path: path, Reason: reason})
}

// tie marks the files that other files bring as companions.
func tie(files []File) {
	owner := map[string]string{}
	for _, f := range files {
		if f.Format.Companions == nil {
			continue
		}
		for _, companion := range f.Format.Companions(f.Path) {
			owner[realPath(companion)] = f.Path
		}
	}
	if len(owner) == 0 {
		return
	}
	for i := range files {
		if of := owner[realPath(files[i].Path)]; of != files[i].Path {
			files[i].PartOf = of
		}
	}
}

// preferPlain drops a compressed file whose plain original lies beside it, as
// happens while an agent compresses old logs.
func (e *expansion) preferPlain() {
	have := map[string]bool{}
	for _, f := range e.files {
		have[f.Path] = true
	}
	kept := e.files[:0]
	for _, f := range e.files {
		if plain := uncompressed(f.Path); plain != f.Path && have[plain] {
			e.skip(f.Path, "its uncompressed original lies beside it")
			continue
		}
		kept = append(kept, f)
	}
	e.files = kept
}

// preferNative drops the trajectories that an evaluation harness made of an
// agent's own log, where that log lies beside or below them: both are of the same
// run, and the log holds more.
func (e *expansion) preferNative() {
	if !slices.ContainsFunc(e.files, func(f File) bool { return f.Format.Name == atif.Name }) {
		return
	}
	kept := e.files[:0:0]
	for _, f := range e.files {
		if f.Format.Name == atif.Name && slices.ContainsFunc(e.files, func(native File) bool { return converted(f.Path, native) }) {
			e.skip(f.Path, "the agent's own log of the same run lies beside it and is read instead")
			continue
		}
		kept = append(kept, f)
	}
	e.files = kept
}

// converted says whether a trajectory stands where the harness puts what it made
// of a log: trajectory.json in a trial's folder agent, the log in it too.
func converted(trajectory string, native File) bool {
	dir, name := filepath.Split(trajectory)
	if native.Format.Name == atif.Name || filepath.Base(dir) != "agent" || !strings.HasPrefix(name, "trajectory.") {
		return false
	}
	rel, err := filepath.Rel(dir, native.Path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func uncompressed(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz")
}

// dropUsed reports the files in unknown formats, without those that the found
// logs are read together with.
func (e *expansion) dropUsed() {
	if len(e.unknown) == 0 {
		return
	}
	used := map[string]bool{}
	for _, f := range e.files {
		if f.Format.Depends == nil {
			continue
		}
		for _, other := range f.Format.Depends(f.Path) {
			used[realPath(other)] = true
		}
	}
	for _, s := range e.unknown {
		if !used[realPath(s.Path)] {
			e.skipped = append(e.skipped, s)
		}
	}
}

// nothing says what was looked at in vain.
func (e *expansion) nothing(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("%w: no file or folder was named", ErrNothing)
	}
	if len(e.skipped) == 1 {
		return fmt.Errorf("%w: %s: %s; fclog reads %s", ErrNothing, e.skipped[0].Path, e.skipped[0].Reason, e.list.titles())
	}
	if len(e.skipped) > 0 {
		return fmt.Errorf("%w: %d files could not be used, the first %s: %s; fclog reads %s", ErrNothing, len(e.skipped), e.skipped[0].Path, e.skipped[0].Reason, e.list.titles())
	}
	return fmt.Errorf("%w: none of the %d files in %s is one; fclog reads %s", ErrNothing, e.looked, strings.Join(paths, ", "), e.list.titles())
}

// reason is an error without the path it starts with.
func reason(err error, path string) string {
	var disk *os.PathError
	if errors.As(err, &disk) {
		return disk.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), path+": ")
}
