package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/term"
)

type importFlags struct {
	dataset string
	noText  bool
	redact  bool
	compact bool
	demo    bool
	shard   string
	watch   bool
	poll    time.Duration
}

func importCommand(a *app) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import PATH… -o DATASET",
		Short: "Turn session logs into a Parquet dataset",
		Long: `import reads session logs into a dataset: a folder of plain Parquet files that
any engine can read. Importing again reads only what is new or has grown. A
stopped import leaves whole files only, and the next one goes on from there.

--redact looks for keys and passwords by their form and by what stands around
them, and puts [redacted:KIND:NUMBER] in their place, the same for the same secret
of one log. Token counts stay those of the log. It finds what its rules know:
a name, or a password in a sentence, it does not.

--shard I/N imports one of N parts of the session files, so that N processes, on as
many machines as there are, can write into one DATASET at the same time. Which
shard a file belongs to follows from its path below the named folder alone: the
SHA-256 of it modulo N. A shard may run again at any time; 'fclog shards' says
which are left. See docs/fleet.md.

--watch goes on after the import and reads what changes below PATH, by
notifications of the system, so that what agents later delete or compact is kept.
It ends with Ctrl-C. Between two changes others can read and write the dataset.
Folders of other machines send no notifications: --poll 30s looks at them that often.`,
		Example: `  fclog import --demo -o dataset
  fclog import --compact dataset
  fclog import ~/.codex/sessions -o dataset --shard 3/8
  fclog import ~/.codex/sessions ~/.claude -o dataset
  fclog import ~/.freecode -o hashes --no-text`,
		Args: checked(func(cmd *cobra.Command, paths []string) error {
			if !f.demo {
				return cobra.MinimumNArgs(1)(cmd, paths)
			}
			if len(paths) > 0 {
				return errors.New("--demo imports the bundled session and takes no PATH")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, paths []string) error { return a.importLogs(cmd, f, paths) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.dataset, "output", "o", "", "the `DATASET` folder; made if it does not exist")
	flags.BoolVar(&f.demo, "demo", false, "import the bundled session")
	flags.BoolVar(&f.noText, "no-text", false, "keep hashes and counts only, no text of the logs")
	flags.BoolVar(&f.redact, "redact", false, redactUsage)
	flags.StringVar(&f.shard, "shard", "", "only part `I/N` of the files, such as 3/8; others may write the other parts at the same time")
	flags.BoolVar(&f.watch, "watch", false, "go on and import what changes, until Ctrl-C")
	flags.DurationVar(&f.poll, "poll", 0, "with --watch: look at all files every `TIME`, such as 30s, instead of waiting for notifications")
	flags.BoolVar(&f.compact, "compact", false, "merge small files of the dataset afterwards; with a dataset as PATH nothing else")
	return cmd
}

func (a *app) importLogs(cmd *cobra.Command, f *importFlags, paths []string) (err error) {
	if f.dataset == "" && f.compact && len(paths) == 1 && dataset.Is(paths[0]) {
		return a.compact(cmd.Context(), paths[0])
	}
	if f.dataset == "" {
		return usage(cmd, "-o DATASET is missing: the folder to import into")
	}
	if f.poll != 0 && !f.watch {
		return usage(cmd, "--poll belongs to --watch")
	}
	if f.watch {
		return a.follow(cmd, f, paths)
	}
	which, err := f.whichShard(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	s, err := a.scratch()
	if err != nil {
		return err
	}
	defer closing(s.close, &err)
	files, err := a.find(ctx, s, request{paths: paths, demo: f.demo})
	if err != nil {
		return err
	}
	all := len(files)
	if files, err = s.shardOf(ctx, which, paths, files); err != nil {
		return err
	}
	summary, err := a.bring(ctx, f.dataset, files, dataset.Options{NoText: f.noText, Redact: f.redact, Shard: which})
	if err != nil {
		return err
	}
	a.warnSkipped(s)
	if !which.None() {
		return a.finishShard(f, s, which, all, summary)
	}
	return a.finishImport(ctx, f, s, summary)
}

// whichShard reads --shard, the zero shard without it.
func (f *importFlags) whichShard(cmd *cobra.Command) (shard.Shard, error) {
	if f.shard == "" {
		return shard.Shard{}, nil
	}
	if f.compact {
		return shard.Shard{}, usage(cmd, "--shard and --compact: merge when all shards are complete")
	}
	which, err := shard.Parse(f.shard)
	if err != nil {
		return which, usage(cmd, "--shard %w", err)
	}
	return which, nil
}

// finishShard says what a shard did. That it has no files, or none with a session,
// is no failure: another run would find the same.
func (a *app) finishShard(f *importFlags, s *source, which shard.Shard, all int, summary dataset.Summary) error {
	for _, fail := range summary.Failed {
		a.warn("could not import %s: %v", s.name(fail.Path), fail.Err)
	}
	if err := unread(which, summary.Failed); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s, shard %s of %s: %s\n", term.Safe(f.dataset), which, term.Count(int64(all), "file", "files"), summaryLine(summary))
	return nil
}

// compact merges the parts of a dataset.
func (a *app) compact(ctx context.Context, dir string) error {
	if err := dataset.Compact(ctx, dir); err != nil {
		return fmt.Errorf("compacting %s: %w", dir, err)
	}
	fmt.Fprintln(a.stdout, term.Safe(dir)+": compacted")
	return nil
}

// finishImport says what was done and, if asked to, compacts.
func (a *app) finishImport(ctx context.Context, f *importFlags, s *source, summary dataset.Summary) error {
	if f.redact {
		a.warn("secrets are redacted by rules; tokens are those of the texts before")
	}
	var failed []error
	for _, fail := range summary.Failed {
		failed = append(failed, fmt.Errorf("%s: %w", s.name(fail.Path), fail.Err))
	}
	if summary.Imported+summary.Replaced+summary.Unchanged == 0 {
		return fmt.Errorf("%w: %w", errNothing, errors.Join(failed...))
	}
	for _, err := range failed {
		a.warn("could not import %v", err)
	}
	if f.compact {
		if err := a.compact(ctx, f.dataset); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, term.Safe(f.dataset)+": "+summaryLine(summary))
	return nil
}

func summaryLine(s dataset.Summary) string {
	parts := []string{
		term.Count(int64(s.Imported), "file imported", "files imported"),
		term.Count(int64(s.Replaced), "changed file read again", "changed files read again"),
		term.Count(int64(s.Unchanged), "unchanged", "unchanged"),
	}
	if s.Kept > 0 {
		parts = append(parts, term.Count(int64(s.Kept), "older copy kept", "older copies kept"))
	}
	if n := len(s.Failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	out := strings.Join(parts, ", ")
	if s.Sessions > 0 {
		out += fmt.Sprintf("; %s, %s noted", term.Count(int64(s.Sessions), "session", "sessions"), term.Count(s.Problems, "problem", "problems"))
	}
	return out
}
