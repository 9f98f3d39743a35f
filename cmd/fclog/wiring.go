package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/demo"
	"github.com/fclog/fclog/internal/pricing"
	"github.com/fclog/fclog/internal/progress"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// redactUsage explains --redact of every command.
const redactUsage = "put placeholders in place of keys and passwords in texts, commands and paths; tokens stay those of the logs"

// source is what a command looks at: a dataset, made for it or found.
type source struct {
	dir     string
	temp    string            // removed at the end; "" nothing to remove
	parts   []string          // of the dataset, to look at; nil all
	notes   []analyze.Problem // files that were not used
	foreign int               // files that are no session logs, met in folders
	folder  string            // what was named, where it was one thing
	renamed map[string]string // temporary path of a log to what the user called it
}

func (s *source) close() error {
	if s.temp == "" {
		return nil
	}
	return os.RemoveAll(s.temp)
}

// name is what the user called a file.
func (s *source) name(path string) string {
	if name, ok := s.renamed[path]; ok {
		return name
	}
	return path
}

// request says what to look at.
type request struct {
	paths     []string
	selection analyze.Selection
	zone      *time.Location
	prices    []string // files that override the built-in prices
	keep      string   // dataset to keep; "" a temporary one
	demo      bool     // the bundled session
	candidate bool     // with demo: the other arm of the bundled A/B
	redact    bool     // put placeholders in place of secrets
}

// open resolves what was named to a dataset, importing logs where needed. The
// caller closes the source.
func (a *app) open(ctx context.Context, r request) (*source, error) {
	if len(r.paths) == 1 && dataset.Is(r.paths[0]) {
		if r.keep != "" {
			return nil, fmt.Errorf("%s is a dataset already; leave out --dataset", r.paths[0])
		}
		if r.redact && !dataset.Redacted(r.paths[0]) {
			return nil, fmt.Errorf("%s was imported without --redact: import the logs with it into another dataset, or name the logs here", r.paths[0])
		}
		return &source{dir: r.paths[0]}, nil
	}
	for _, p := range r.paths {
		if dataset.Is(p) {
			return nil, fmt.Errorf("%s is a dataset; name it alone, or name log files and folders only", p)
		}
	}
	s, err := a.scratch()
	if err != nil {
		return nil, err
	}
	if s.dir = r.keep; s.dir == "" {
		s.dir = filepath.Join(s.temp, "dataset")
	}
	if err := a.fill(ctx, s, r); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// scratch is a source with a temporary folder and nothing in it.
func (a *app) scratch() (*source, error) {
	temp, err := os.MkdirTemp("", "fclog-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w", err)
	}
	return &source{temp: temp, renamed: map[string]string{}}, nil
}

// fill imports what was named into the source's dataset.
func (a *app) fill(ctx context.Context, s *source, r request) error {
	counter := tokens.New()
	if r.keep == "" {
		// Something will be counted: the vocabulary is loaded while logs are looked for.
		go counter.Count(tokens.O200K, "a")
	}
	files, err := a.find(ctx, s, r)
	if err != nil {
		return err
	}
	summary, err := a.bring(ctx, s.dir, files, dataset.Options{Scratch: true, Redact: r.redact, Tokens: counter})
	if err != nil {
		return err
	}
	for _, f := range summary.Failed {
		s.notes = append(s.notes, analyze.Problem{File: a.hidden(s.name(f.Path)), Kind: "unreadable", Detail: a.hidden(f.Err.Error()), Count: 1})
	}
	if r.keep != "" {
		s.parts = append([]string{}, summary.Parts...)
	}
	if len(summary.Failed) == len(files) {
		f := summary.Failed[0]
		return fmt.Errorf("%w: %s: %w", errNothing, s.name(f.Path), f.Err)
	}
	return nil
}

// bring imports log files with progress on the terminal.
func (a *app) bring(ctx context.Context, dir string, files []formats.File, o dataset.Options) (dataset.Summary, error) {
	sizes, all := sizesOf(files)
	defer a.boundMemory(sizes)()
	bar := progress.New(a.stderr, "reading logs", all, term.WidthOf(a.stderr, a.getenv), term.IsTerminal(a.stderr))
	defer bar.Done()
	o.Finished = func(path string) { bar.Add(sizes[path]) }
	summary, err := dataset.Import(ctx, dir, inputs(files), o)
	if err != nil {
		return summary, fmt.Errorf("importing into %s: %w", dir, err)
	}
	return summary, nil
}

// sizesOf are the sizes of files in bytes, by path and in all.
func sizesOf(files []formats.File) (map[string]int64, int64) {
	sizes, all := map[string]int64{}, int64(0)
	for _, f := range files {
		if info, err := os.Stat(f.Path); err == nil {
			sizes[f.Path] = info.Size()
			all += info.Size()
		}
	}
	return sizes, all
}

// inputs is where formats and datasets meet: neither knows the other.
func inputs(files []formats.File) []dataset.Input {
	out := make([]dataset.Input, len(files))
	for i, f := range files {
		out[i] = dataset.Input{
			Path: f.Path,
			Read: func(ctx context.Context) ([]*rollout.Session, error) { return f.Format.Read(ctx, f.Path) },
		}
		if f.Format.Depends != nil {
			out[i].Depends = f.Format.Depends(f.Path)
		}
	}
	return out
}

// find lists the log files to read: what was named, else the newest sessions of
// this machine.
func (a *app) find(ctx context.Context, s *source, r request) ([]formats.File, error) {
	paths, err := a.local(ctx, s, r)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		if paths, err = a.newest(ctx, r.selection); err != nil {
			return nil, err
		}
	}
	files, skipped, err := formats.Expand(ctx, paths)
	if err != nil {
		return nil, s.named(err, paths)
	}
	if err := a.target.spareAll(files, skipped); err != nil {
		return nil, err
	}
	a.note(s, skipped, paths)
	return files, nil
}

// note remembers what was not used. What is no log at all, as folders hold much
// of, is only counted.
func (a *app) note(s *source, skipped []formats.Skipped, paths []string) {
	for _, f := range skipped {
		if !f.Foreign {
			s.notes = append(s.notes, analyze.Problem{File: a.hidden(s.name(f.Path)), Kind: "skipped", Detail: a.hidden(f.Reason), Count: 1})
			continue
		}
		s.foreign++
		if a.debug {
			a.warn("%s was skipped: %s", s.name(f.Path), f.Reason)
		}
	}
	if len(paths) == 1 {
		s.folder = a.hidden(s.name(paths[0]))
	}
}

// maxSkipped is how many skipped files are named.
const maxSkipped = 10

// notLogs is said of files that are no session logs.
const notLogs = "not session logs (--debug lists them)"

// problems are the files that were not used.
func (s *source) problems() []analyze.Problem {
	if s.foreign == 0 {
		return s.notes
	}
	return append(s.notes, analyze.Problem{File: s.folder, Kind: "skipped", Detail: notLogs, Count: int64(s.foreign)})
}

// warnSkipped names the files that were not used; those that are no logs come as
// one line.
func (a *app) warnSkipped(s *source) {
	for i, n := range s.notes {
		if i == maxSkipped {
			a.warn("… and %s", term.Count(int64(len(s.notes)-i), "more file was skipped", "more files were skipped"))
			break
		}
		a.warn("%s was skipped: %s", s.name(n.File), n.Detail)
	}
	if s.foreign > 0 {
		a.warn("%s skipped: %s", term.Count(int64(s.foreign), "file", "files"), notLogs)
	}
}

// named makes errors speak of what the user named.
func (s *source) named(err error, paths []string) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return missingFile(disk)
	}
	text := err.Error()
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, s.name(p))
	}
	return renamedError{text, err}
}

// renamedError is an error in the user's words.
type renamedError struct {
	text string
	err  error
}

func (e renamedError) Error() string { return e.text }
func (e renamedError) Unwrap() error { return e.err }

// local copies what can be read only once, the standard input, pipes and the
// bundled session, into the temporary folder.
func (a *app) local(ctx context.Context, s *source, r request) ([]string, error) {
	if r.demo {
		unpack := demo.Unpack
		if r.candidate {
			unpack = demo.UnpackCandidate
		}
		path, err := unpack(filepath.Join(s.temp, "demo"))
		s.renamed[path] = "bundled session"
		return []string{path}, err
	}
	paths := make([]string, len(r.paths))
	copies := map[string]string{}
	for i, p := range r.paths {
		once, err := readOnce(p)
		if err != nil {
			return nil, err
		}
		if paths[i] = p; !once {
			continue
		}
		if copies[p] == "" {
			copies[p] = filepath.Join(s.temp, fmt.Sprintf("input-%d", i+1))
			s.renamed[copies[p]] = inputName(p)
			if err := a.saveInput(ctx, p, copies[p]); err != nil {
				return nil, fmt.Errorf("reading %s: %w", inputName(p), err)
			}
		}
		paths[i] = copies[p]
	}
	return paths, nil
}

func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readOnce tells whether a path is a stream, as <(zcat log.gz) of a shell is. A
// device may never end, and a socket cannot be opened.
func readOnce(path string) (bool, error) {
	if path == "-" {
		return true, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, nil // told where it is looked for
	}
	mode := info.Mode()
	if mode&(fs.ModeDevice|fs.ModeSocket) != 0 {
		return false, fmt.Errorf("%w: %s is a device or socket, not a log; - is the standard input", errNothing, path)
	}
	return mode&fs.ModeNamedPipe != 0, nil
}

// saveInput copies the standard input or a pipe to a file. Opening and reading
// wait for input and cannot be interrupted, so they are left behind when ctx ends.
func (a *app) saveInput(ctx context.Context, from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		done <- errors.Join(a.copyInput(f, from), f.Close())
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *app) copyInput(to io.Writer, from string) error {
	in := a.stdin
	if from != "-" {
		pipe, err := os.Open(from)
		if err != nil {
			return err
		}
		defer pipe.Close()
		in = pipe
	}
	_, err := io.Copy(to, in)
	return err
}

// newest chooses sessions of this machine: the newest one, or those that a
// selection may be about, by what can be told without reading them.
func (a *app) newest(ctx context.Context, sel analyze.Selection) ([]string, error) {
	found, _, err := formats.Installed(ctx, a.getenv)
	if err != nil {
		return nil, emptyMachine(err)
	}
	var paths []string
	for _, f := range found {
		if (sel.Agent == "" || f.Format.Name == sel.Agent) && !f.Modified.Before(sel.Since) {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: %s on this machine, none matches the selection", errNothing, term.Count(int64(len(found)), "session", "sessions"))
	}
	// Whatever else is selected may need more than the newest to be found.
	others := sel
	others.Agent = ""
	if reflect.ValueOf(others).IsZero() {
		paths = []string{mainOf(paths[0], found)}
		a.warn("newest session on this machine: %s", paths[0])
	}
	return paths, nil
}

// mainOf is the session file that brings path as its companion, else path itself:
// the newest file may be that of a sub-agent.
func mainOf(path string, found []formats.Session) string {
	for _, f := range found {
		if f.Format.Companions != nil && f.Path != path && slices.Contains(f.Format.Companions(f.Path), path) {
			return f.Path
		}
	}
	return path
}

// analysis opens the selected sessions of a source.
func (a *app) analysis(ctx context.Context, s *source, r request) (*analyze.DB, error) {
	book, err := a.priceBook(r.prices)
	if err != nil {
		return nil, err
	}
	sel := r.selection
	sel.Parts = s.parts
	return analyze.Open(ctx, analyze.Options{Dataset: s.dir, Prices: prices(book), Selection: sel, TZ: r.zone})
}

// priceBook is the built-in prices overridden by the named files, or by FreeCode's
// own price file where none is named.
func (a *app) priceBook(files []string) (*pricing.Book, error) {
	if len(files) > 0 {
		return pricing.Load(files...)
	}
	own := a.ownPrices()
	if info, err := os.Stat(own); err != nil || !info.Mode().IsRegular() {
		return pricing.Load()
	}
	book, err := pricing.Load(own)
	if err != nil {
		// The user has not asked for this file: it must not stand in the way.
		a.warn("FreeCode's price file is not used: %v", err)
		return pricing.Load()
	}
	return book, nil
}

// ownPrices is where FreeCode looks for the user's prices; "" where there is no
// home.
func (a *app) ownPrices() string {
	if file := a.getenv("FREECODE_PRICING_FILE"); file != "" {
		return file
	}
	home := cmp.Or(a.getenv("HOME"), a.getenv("USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".freecode", "pricing.json")
}

// manyParts is how many files of a table make a dataset slow to open: each costs
// some milliseconds.
const manyParts = 300

// hint says how a dataset of many small parts becomes faster.
func (a *app) hint(dir string) {
	parts, err := filepath.Glob(filepath.Join(escapePattern(dir), "sessions", "source=*", "month=*", "*.parquet"))
	if err == nil && len(parts) > manyParts {
		a.warn("%s has %d unmerged parts: 'fclog import --compact %s' makes it faster", dir, len(parts), dir)
	}
}

// escapePattern makes characters that patterns understand stand for themselves.
func escapePattern(path string) string {
	if filepath.Separator == '\\' {
		return path // there is no escaping on Windows
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "*", `\*`, "?", `\?`).Replace(path)
}

// prices hands the price book to the analysis, which knows no price files.
func prices(book *pricing.Book) []analyze.Price {
	rows := book.Rows()
	out := make([]analyze.Price, len(rows))
	for i, p := range rows {
		out[i] = analyze.Price{
			Provider: p.Provider, Model: p.Model,
			Input: p.Input, CacheRead: p.CacheRead, CacheWrite5m: p.CacheWrite5m, CacheWrite1h: p.CacheWrite1h, Output: p.Output,
			Date: p.Date, File: p.File,
		}
		if long := p.LongContext; long != nil {
			out[i].LongAbove = &long.AboveInputTokens
			out[i].Long = analyze.LongPrice{
				Input: long.Input, CacheRead: long.CacheRead, CacheWrite5m: long.CacheWrite5m, CacheWrite1h: long.CacheWrite1h, Output: long.Output,
			}
		}
	}
	return out
}

// agentNames are the formats as --agent takes them.
func agentNames() []string {
	names := []string{}
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return names
}

// agentTitles lists the formats for people, in lines of so many characters.
func agentTitles(width int) string {
	line, text := 0, ""
	for i, f := range formats.All() {
		word := f.Title
		if i > 0 {
			text, line = text+",", line+1
			if line+1+len(word) > width {
				text, line = text+"\n", 0
			} else {
				text, line = text+" ", line+1
			}
		}
		text, line = text+word, line+len(word)
	}
	return text
}
