package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout/formats"
)

type shardsFlags struct {
	outputFlags
	of      int
	missing bool
	demo    bool
}

func shardsCommand(a *app) *cobra.Command {
	f := &shardsFlags{}
	cmd := &cobra.Command{
		Use:   "shards DATASET PATH… --of N",
		Short: "Which shards of a divided import are complete, and which are left",
		Long: `shards holds the session files under PATH against the parts of a dataset that
several imports with --shard I/N are writing. A shard is complete when every file
of it has a part for what the file holds now. The same PATHs must be named as to
the imports. A file in which an import found no session counts as done, since
another run would find none either; it is listed as unreadable.

--missing prints nothing but the indices that are left, as job arrays take them:
2,5-7.

It exits with 0 if all shards are complete, 1 if some are not, 2 for wrong usage,
3 if there is no session log. It changes nothing.`,
		Example: `  fclog import --demo -o dataset --shard 1/1
  fclog shards dataset --demo --of 1
  fclog shards dataset --demo --of 1 --format json`,
		Args: checked(func(cmd *cobra.Command, args []string) error {
			if f.demo {
				return cobra.ExactArgs(1)(cmd, args)
			}
			return cobra.MinimumNArgs(2)(cmd, args)
		}),
		RunE: func(cmd *cobra.Command, args []string) error { return a.shards(cmd, f, args[0], args[1:]) },
	}
	f.add(cmd, "term", "json")
	flags := cmd.Flags()
	flags.IntVar(&f.of, "of", 0, "how many shards there are: the `N` of --shard I/N")
	flags.BoolVar(&f.missing, "missing", false, "print only the indices that are left, such as 2,5-7")
	flags.BoolVar(&f.demo, "demo", false, "the bundled session in place of PATH")
	return cmd
}

// shardsResult is what `fclog shards --format json` prints.
type shardsResult struct {
	SchemaVersion int           `json:"schema_version"`
	Of            int           `json:"of"`
	Complete      int           `json:"complete"`   // shards without a missing file
	Files         int           `json:"files"`      // session files, without copies
	Copies        int           `json:"copies"`     // further files of the same content
	Held          int           `json:"held"`       // files that have a part
	Unreadable    int           `json:"unreadable"` // files in which no session was found
	Missing       int           `json:"missing"`    // files without a part
	Shards        []shardResult `json:"shards"`
}

type shardResult struct {
	Shard        int      `json:"shard"` // 1-based
	Files        int      `json:"files"`
	Held         int      `json:"held"`
	Unreadable   int      `json:"unreadable"`
	Missing      int      `json:"missing"`
	MissingFiles []string `json:"missing_files"`
}

func (a *app) shards(cmd *cobra.Command, f *shardsFlags, dir string, paths []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.of < 1 || f.of > shard.Max {
		return usage(cmd, "--of must be 1 to %d: how many shards there are", shard.Max)
	}
	r, err := a.standings(cmd.Context(), f, dir, paths)
	if err != nil {
		return err
	}
	err = a.write(f.outputFlags, func(w io.Writer) error {
		switch {
		case f.missing:
			return writeMissing(w, r)
		case f.format == "json":
			return report.WriteJSON(w, r, true)
		}
		return a.writeShards(w, f.outputFlags, dir, r)
	})
	if err == nil && r.Missing > 0 {
		err = fmt.Errorf("%d of %s not complete: %s without a part",
			r.Of-r.Complete, term.Count(int64(r.Of), "shard is", "shards are"), term.Count(int64(r.Missing), "session file is", "session files are"))
	}
	return err
}

// standings counts per shard what the dataset holds of its files.
func (a *app) standings(ctx context.Context, f *shardsFlags, dir string, paths []string) (r *shardsResult, err error) {
	s, err := a.scratch()
	if err != nil {
		return nil, err
	}
	defer closing(s.close, &err)
	files, err := a.find(ctx, s, request{paths: paths, demo: f.demo})
	if err != nil {
		return nil, err
	}
	files, copies, err := distinct(ctx, files)
	if err != nil {
		return nil, err
	}
	if !dataset.Is(dir) {
		a.warn("%v", dataset.Check(dir))
	}
	holds, err := dataset.Standings(ctx, dir, inputs(files))
	if err != nil {
		return nil, err
	}
	r = &shardsResult{SchemaVersion: 1, Of: f.of, Files: len(files), Copies: copies, Shards: make([]shardResult, f.of)}
	for i := range r.Shards {
		r.Shards[i] = shardResult{Shard: i + 1, MissingFiles: []string{}}
	}
	for i, file := range files {
		r.Shards[shard.Of(s.shardKey(paths, file.Path), f.of)-1].count(holds[i], s.name(file.Path))
	}
	for _, sh := range r.Shards {
		r.Held += sh.Held
		r.Unreadable += sh.Unreadable
		r.Missing += sh.Missing
		if sh.Missing == 0 {
			r.Complete++
		}
	}
	return r, nil
}

func (r *shardResult) count(holds dataset.Standing, file string) {
	r.Files++
	switch holds {
	case dataset.Held:
		r.Held++
	case dataset.Unreadable:
		r.Unreadable++
	default:
		r.Missing++
		r.MissingFiles = append(r.MissingFiles, file)
	}
}

// shardKey is what decides the shard of a file: of what was copied aside, the name the
// user gave it.
func (s *source) shardKey(paths []string, file string) string {
	if name := s.name(file); name != file {
		return name
	}
	return shard.Key(paths, file)
}

// distinct leaves out files whose content comes under an earlier path too, and
// counts them.
func distinct(ctx context.Context, files []formats.File) (kept []formats.File, copies int, err error) {
	keep, err := dataset.Distinct(ctx, inputs(files))
	if err != nil {
		return nil, 0, err
	}
	for i, f := range files {
		if keep[i] {
			kept = append(kept, f)
		}
	}
	return kept, len(files) - len(kept), nil
}

// shardOf keeps the files of one shard, all if the work is not divided.
func (s *source) shardOf(ctx context.Context, which shard.Shard, paths []string, files []formats.File) ([]formats.File, error) {
	if which.None() {
		return files, nil
	}
	all, _, err := distinct(ctx, files)
	if err != nil {
		return nil, err
	}
	var own []formats.File
	for _, f := range all {
		if which.Has(s.shardKey(paths, f.Path)) {
			own = append(own, f)
		}
	}
	return own, nil
}

// unread is the error of a shard that should run again: the system could not read
// some of its files. Files that went away meanwhile, and those without a session,
// are nothing another run would mend.
func unread(which shard.Shard, failed []dataset.Failure) error {
	n := 0
	for _, f := range failed {
		var disk *fs.PathError
		if errors.As(f.Err, &disk) && !errors.Is(f.Err, fs.ErrNotExist) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("shard %s is not complete: %s", which, term.Count(int64(n), "file could not be read", "files could not be read"))
}

func writeMissing(w io.Writer, r *shardsResult) error {
	var left []int
	for _, sh := range r.Shards {
		if sh.Missing > 0 {
			left = append(left, sh.Shard)
		}
	}
	if len(left) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, shard.Array(left))
	return err
}

// maxMissing is how many files without a part are named.
const maxMissing = 20

// writeShards lists the shards that are not complete and what they lack.
func (a *app) writeShards(w io.Writer, f outputFlags, dir string, r *shardsResult) error {
	lines := []string{fmt.Sprintf("%s: %d of %s complete; of %s %d held, %d unreadable, %d missing", term.Safe(dir),
		r.Complete, term.Count(int64(r.Of), "shard", "shards"), term.Count(int64(r.Files), "session file", "session files"), r.Held, r.Unreadable, r.Missing)}
	if r.Copies > 0 {
		lines = append(lines, term.Count(int64(r.Copies), "more file holds", "more files hold")+" what another one holds")
	}
	if r.Missing > 0 {
		theme := term.NewTheme(a.color(f))
		lines = append(append(lines, ""), leftTable(r).Render(a.tableWidth(f), theme)...)
		lines = append(append(lines, "", "without a part:"), firstMissing(r)...)
	}
	text := strings.Join(lines, "\n") + "\n"
	if !a.utf8(f) {
		text = term.ASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

func leftTable(r *shardsResult) term.Table {
	t := term.Table{Columns: []term.Column{{Title: "shard"}, {Title: "files", Right: true}, {Title: "held", Right: true}, {Title: "unreadable", Right: true}, {Title: "missing", Right: true}}}
	for _, sh := range r.Shards {
		if sh.Missing == 0 {
			continue
		}
		cells := []term.Cell{{Text: shard.Shard{Index: sh.Shard, Of: r.Of}.String()}}
		for _, n := range []int{sh.Files, sh.Held, sh.Unreadable, sh.Missing} {
			cells = append(cells, term.Cell{Text: term.Exact(int64(n))})
		}
		t.Rows = append(t.Rows, term.Row{Cells: cells})
	}
	return t
}

func firstMissing(r *shardsResult) []string {
	var lines []string
	for _, sh := range r.Shards {
		for _, file := range sh.MissingFiles {
			if len(lines) == maxMissing {
				return append(lines, fmt.Sprintf("  … and %d more; --format json lists all", r.Missing-maxMissing))
			}
			lines = append(lines, "  "+term.Safe(file))
		}
	}
	return lines
}
