package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/rollout/logfile"
)

// Several imports may write one dataset at the same time, from several machines,
// if each is a shard: the session files are divided among them, so no two write the
// same part, and the same part has the same bytes whoever writes it. They share the
// lock, which keeps out imports that take the dataset for themselves, write no file
// in common, and touch no merged file. All they need of a file system is that rename
// replaces a file in one step and that two cannot make the same folder.

// shardPrefix begins the names of what shards keep for themselves, below _tmp and
// _state.
const shardPrefix = "shard-"

// shardLabel tells the files of a shard from those of others.
func shardLabel(s shard.Shard) string { return fmt.Sprintf("%s%d-of-%d", shardPrefix, s.Index, s.Of) }

// stateName is the state file that an import writes.
func (s *store) stateName() string {
	if s.shard.None() {
		return stateFile
	}
	return stateFolder + "/" + shardLabel(s.shard) + ".json"
}

// isShardState says whether a file, relative to the dataset, is the state of a shard.
func isShardState(name string) bool {
	base, ok := strings.CutPrefix(name, stateFolder+"/"+shardPrefix)
	return ok && strings.HasSuffix(base, ".json")
}

// isShardLeftover says whether a file was about to become the state of a shard.
func isShardLeftover(name string) bool {
	base, ok := strings.CutPrefix(name, stateFolder+"/"+shardPrefix)
	return ok && strings.Contains(base, ".json.")
}

// dropOwnLeftovers removes what an earlier run of the same shard left aside. If that
// still runs somewhere, its next write fails and nothing else comes of it.
func (s *store) dropOwnLeftovers() {
	label := shardLabel(s.shard)
	for folder, prefix := range map[string]string{tmpFolder: label + "-", stateFolder: label + ".json."} {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				s.removeAll(filepath.Join(s.dir, folder, e.Name()))
			}
		}
	}
}

// shardsAtWork says whether shards may be writing that the lock does not tell of, as
// where locks do not reach other machines.
func (s *store) shardsAtWork() bool {
	entries, err := os.ReadDir(filepath.Join(s.dir, tmpFolder))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return strings.HasPrefix(e.Name(), shardPrefix) && err == nil && time.Since(info.ModTime()) < leftoverAge
	})
}

// knownFiles joins what imports and shards noted of the files they read. Of two notes
// of one file the one of its later state counts.
func knownFiles(dir string) map[string]imported {
	known := map[string]imported{}
	names, _ := fs.Glob(os.DirFS(dir), stateFolder+"/"+shardPrefix+"*.json")
	for _, name := range append(names, stateFile) {
		st := &state{}
		raw, err := smallfile.Read(filepath.Join(dir, filepath.FromSlash(name)), maxState)
		if err != nil || json.Unmarshal(raw, st) != nil || st.Importer != Importer {
			continue
		}
		for key, im := range st.Files {
			if old, ok := known[key]; !ok || old.modified() <= im.modified() {
				known[key] = im
			}
		}
	}
	return known
}

// modified is when the file was last changed before it was read.
func (im imported) modified() int64 {
	if len(im.Stamps) == 0 {
		return 0
	}
	return im.Stamps[0].Mtime
}

// ownOf keeps what is known of the inputs: each shard notes its own files only.
func ownOf(known map[string]imported, inputs []Input) (map[string]imported, error) {
	own := map[string]imported{}
	for _, in := range inputs {
		file, err := filepath.Abs(in.Path)
		if err != nil {
			return nil, err
		}
		if im, ok := known[pathKey(file)]; ok {
			own[pathKey(file)] = im
		}
	}
	return own, nil
}

// readShardIndex is the index as a shard needs it: parts that are known to come from
// files of others are listed by their names, without opening them. A file that
// another shard takes away meanwhile is passed over.
func (s *store) readShardIndex(known map[string]imported, jobs []*job) (*index, error) {
	others := map[string]string{} // key of the file by its sessions file
	for key, im := range known {
		others[im.Stored] = key
	}
	for _, j := range jobs {
		if im, ok := known[pathKey(j.file)]; ok {
			delete(others, im.Stored)
		}
	}
	files, err := s.files("sessions")
	if err != nil {
		return nil, err
	}
	ix := &index{at: map[string]int{}}
	for _, p := range files {
		path := s.path("sessions", p)
		if key, ok := others[s.relative(path)]; ok && namesPart(p.stem) {
			ix.at[p.stem] = len(ix.parts)
			ix.parts = append(ix.parts, committed{part: p.stem, place: p, key: key, importer: Importer})
			continue
		}
		if err := ix.add(path, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return ix, nil
}

// relative is a path in the dataset as states note it.
func (s *store) relative(path string) string {
	rel, err := filepath.Rel(s.dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// namesPart says whether a file is named by the one part it holds, as merged ones
// are not.
func namesPart(stem string) bool {
	digits, err := hex.DecodeString(stem)
	return err == nil && len(digits) == 16
}

// readIndex lists what the dataset holds, as far as the jobs need it.
func (im *importer) readIndex(jobs []*job) (*index, error) {
	if im.store.shard.None() {
		return im.store.readIndex()
	}
	return im.store.readShardIndex(im.known, jobs)
}

// settled is a part that stands, and the file it stands for.
type settled struct {
	newcomer
	job *job
}

// copied says whether another file of the same content made the part.
func (x *settled) copied() bool { return x.key != "" && x.key != pathKey(x.job.file) }

// standFor makes the part that of the file, which was noted with another before.
func (x *settled) standFor(s *store, before string) {
	x.before = before
	if x.copied() {
		x.key, x.file = pathKey(x.job.file), utf8Path(x.job.file)
		if !s.text {
			x.file = filepath.Base(x.file)
		}
	}
}

// settle takes away what the parts of files replace, and notes the files. A part that
// another file made, of the same content, is that file's to settle.
func (im *importer) settle(list []*settled) error {
	divided := !im.store.shard.None()
	var newcomers []*newcomer
	var known []*settled
	for _, x := range list {
		if divided && x.copied() {
			known = append(known, x)
			continue
		}
		x.standFor(im.store, im.state.part(x.job.file))
		if divided && im.leaves(&x.newcomer) {
			continue
		}
		known = append(known, x)
		newcomers = append(newcomers, &x.newcomer)
		im.state.release(x.job.file)
	}
	if err := im.store.supersede(im.index, im.state, newcomers); err != nil {
		return err
	}
	for _, x := range known {
		im.remember(x.job, x.place)
	}
	return nil
}

// leaves says whether a shard leaves it to the next import that has the dataset for
// itself to settle a part: merged files have to be written anew for it, which several
// shards may have a part in. Until then readers count each session once.
func (im *importer) leaves(now *newcomer) bool {
	merged := func(c committed) bool { return !namesPart(c.place.stem) }
	return merged(now.committed) && len(now.hidden) > 0 || slices.ContainsFunc(im.index.eldersOf(now, im.store.text), merged)
}

// noteFailure notes a file that no session was found in. What the system could not
// read may be there the next time.
func (im *importer) noteFailure(j *job, err error) {
	var disk *fs.PathError
	if !errors.As(err, &disk) {
		im.state.set(j.file, imported{Stamps: j.stamps, Failed: true})
	}
}

// makeMarker makes the marker of a dataset that several shards may be making: the
// first one's stands, the others take it if it is what they would have made. Where
// the file system knows no links, the last one's stands.
func (s *store) makeMarker(content []byte) error {
	path := filepath.Join(s.dir, markerFile)
	aside := path + "." + shardLabel(s.shard)
	if err := s.named(s.root.WriteFile(s.name(aside), content, 0o600)); err != nil {
		return err
	}
	defer s.remove(aside)
	err := s.root.Link(s.name(aside), s.name(path))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return s.replaceFile(path, content)
	}
	return nil
}

// Standing says what a dataset holds of a session file.
type Standing int

// What a dataset holds of a session file.
const (
	Missing    Standing = iota // no part of the file as it is now
	Held                       // a part of it
	Unreadable                 // an import found no session in it, and would again
)

// Standings says of each input what the dataset in dir holds of it, which is nothing
// where there is no dataset yet. Only files that no import noted as they are now are
// read. It takes no lock.
func Standings(ctx context.Context, dir string, inputs []Input) ([]Standing, error) {
	out := make([]Standing, len(inputs))
	if !Is(dir) {
		return out, nil
	}
	m, err := readMarker(dir)
	if err != nil {
		return nil, err
	}
	s := &store{inside: inside{dir: dir}, text: m.Text, redact: m.Redacted}
	parts, err := s.partNames()
	if err != nil {
		return nil, err
	}
	known := knownFiles(dir)
	var jobs []*job
	at := map[*job]int{}
	for i, in := range inputs {
		file, err := filepath.Abs(in.Path)
		if err != nil {
			return nil, err
		}
		im, ok := known[pathKey(file)]
		asNoted := ok && slices.Equal(im.Stamps, stamps(in.Path, in.Depends))
		switch {
		case asNoted && im.Failed:
			out[i] = Unreadable
		case asNoted && parts[im.Part]:
			out[i] = Held
		default:
			j := &job{Input: in}
			jobs, at[j] = append(jobs, j), i
		}
	}
	err = each(ctx, jobs, func(j *job) error {
		j.part, j.err = partName(j.Path, j.Depends, s.mode())
		return nil
	})
	for _, j := range jobs {
		if j.err == nil && parts[j.part] {
			out[at[j]] = Held
		}
	}
	return out, err
}

// partNames lists the parts that count. Files of one part are named by it; merged
// ones must be opened.
func (s *store) partNames() (map[string]bool, error) {
	files, err := s.files("sessions")
	if err != nil {
		return nil, err
	}
	parts := map[string]bool{}
	for _, p := range files {
		if namesPart(p.stem) {
			parts[p.stem] = true
			continue
		}
		err := scanFile(s.path("sessions", p), func(rows []Session) error {
			for _, r := range rows {
				parts[r.Part] = true
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return parts, nil
}

// Distinct says which inputs to import so that no content comes twice: of several
// files that make the same part, the one with the first absolute path, as Import
// does. Shards must agree on that before they divide the work. Only files that begin
// alike and may be equal are read as a whole. A file that cannot be read stays in.
func Distinct(ctx context.Context, inputs []Input) ([]bool, error) {
	jobs := make([]*job, len(inputs))
	keep := make([]bool, len(inputs))
	at := map[*job]int{}
	for i, in := range inputs {
		file, err := filepath.Abs(in.Path)
		if err != nil {
			return nil, err
		}
		jobs[i], keep[i] = &job{Input: in, file: file}, true
		at[jobs[i]] = i
	}
	err := each(ctx, jobs, func(j *job) error {
		j.part, j.err = beginning(j.Path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	alike := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.err != nil })
	alike = inGroups(alike)
	err = each(ctx, alike, func(j *job) error {
		j.part, j.err = partName(j.Path, j.Depends, "")
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(alike, func(a, b *job) int { return cmp.Compare(a.file, b.file) })
	taken := map[string]bool{}
	for _, j := range alike {
		if j.err == nil {
			keep[at[j]] = !taken[j.part]
			taken[j.part] = true
		}
	}
	return keep, nil
}

// inGroups keeps the jobs whose files begin like another one and may be equal to it:
// where none is packed, files of different sizes are not.
func inGroups(jobs []*job) []*job {
	groups := map[string][]*job{}
	for _, j := range jobs {
		groups[j.part] = append(groups[j.part], j)
	}
	var out []*job
	for _, group := range groups {
		if slices.ContainsFunc(group, func(j *job) bool { return packed(j.Path) }) {
			if len(group) > 1 {
				out = append(out, group...)
			}
			continue
		}
		sizes := map[int64][]*job{}
		for _, j := range group {
			size := stamps(j.Path, nil)[0].Size
			sizes[size] = append(sizes[size], j)
		}
		for _, same := range sizes {
			if len(same) > 1 {
				out = append(out, same...)
			}
		}
	}
	return out
}

// packed says whether the content of a file may be of another size than the file.
func packed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	return n < len(head) || head[0] == 0x1f || head[0] == 0x28
}

// beginningBytes is how much of a file tells it from most others.
const beginningBytes = 4 << 10

// beginning is a digest of how a file's content begins, packed or not.
func beginning(path string) (string, error) {
	sum := sha256.New()
	r, err := logfile.Content(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if _, err := io.CopyN(sum, r, beginningBytes); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(sum.Sum(nil)), nil
}
