package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout/formats"
)

type sessionsFlags struct {
	outputFlags
	since, until, agent, tz string
	last                    int
	demo                    bool
}

func sessionsCommand(a *app) *cobra.Command {
	f := &sessionsFlags{}
	cmd := &cobra.Command{
		Use:   "sessions [PATH…]",
		Short: "The sessions on this machine or under PATH, newest first",
		Long: `sessions lists session logs by the time of their last change, newest first. Only
the start of each file is read. Without PATH it looks where the agents keep their
logs: ~/.freecode, $CODEX_HOME or ~/.codex, $CLAUDE_CONFIG_DIR or ~/.claude.`,
		Example: `  fclog sessions --demo
  fclog sessions --demo --format json
  fclog sessions
  fclog sessions --agent codex --last 5
  fclog sessions logs --since 2026-03-01`,
		RunE: func(cmd *cobra.Command, paths []string) error { return a.sessions(cmd, f, paths) },
	}
	f.outputFlags.add(cmd, "term", "json")
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only files changed at or after `WHEN`: 2026-03-14, 7d, 12h")
	flags.StringVar(&f.until, "until", "", "only files changed before `WHEN`")
	flags.StringVar(&f.agent, "agent", "", "only logs of this `AGENT`: "+strings.Join(agentNames(), ", "))
	flags.IntVar(&f.last, "last", 0, "only the newest `N`")
	flags.StringVar(&f.tz, "tz", "UTC", "time `ZONE` of the times shown, such as Europe/Berlin")
	flags.BoolVar(&f.demo, "demo", false, "list the bundled session")
	complete(cmd, "agent", agentNames())
	return cmd
}

// foundSession is a session log as `fclog sessions --format json` shows it.
type foundSession struct {
	File     string    `json:"file"`
	Source   string    `json:"source"`
	Modified time.Time `json:"modified"`
	Bytes    int64     `json:"bytes"`
}

func (a *app) sessions(cmd *cobra.Command, f *sessionsFlags, paths []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	selection := selectionFlags{since: f.since, until: f.until, agent: f.agent, last: f.last, tz: f.tz}
	sel, zone, err := selection.selection(cmd)
	if err != nil {
		return err
	}
	found, err := a.foundOrBundled(cmd, f, paths)
	if err != nil {
		return err
	}
	all := len(found)
	found = slices.DeleteFunc(found, func(s foundSession) bool {
		return sel.Agent != "" && s.Source != sel.Agent || s.Modified.Before(sel.Since) || !sel.Until.IsZero() && !s.Modified.Before(sel.Until)
	})
	if len(found) == 0 {
		return fmt.Errorf("%w: %s found, none matches the selection", errNothing, term.Count(int64(all), "log", "logs"))
	}
	if sel.Last > 0 {
		found = found[:min(sel.Last, len(found))]
	}
	return a.write(f.outputFlags, func(w io.Writer) error {
		if f.format == "json" {
			return report.WriteJSON(w, found, true)
		}
		return a.writeSessions(w, f.outputFlags, found, zone)
	})
}

// foundOrBundled lists the bundled session or what is found.
func (a *app) foundOrBundled(cmd *cobra.Command, f *sessionsFlags, paths []string) (found []foundSession, err error) {
	if !f.demo {
		return a.foundSessions(cmd.Context(), paths)
	}
	if len(paths) > 0 {
		return nil, usage(cmd, "--demo lists the bundled session and takes no PATH")
	}
	s, err := a.scratch()
	if err != nil {
		return nil, err
	}
	defer closing(s.close, &err)
	path, err := a.local(cmd.Context(), s, request{demo: true})
	if err != nil {
		return nil, err
	}
	found, err = a.foundSessions(cmd.Context(), path)
	for i := range found {
		found[i].File = s.name(found[i].File)
	}
	return found, err
}

// foundSessions looks under the paths, or where the agents keep their logs.
func (a *app) foundSessions(ctx context.Context, paths []string) ([]foundSession, error) {
	var out []foundSession
	if len(paths) == 0 {
		installed, _, err := formats.Installed(ctx, a.getenv)
		for _, s := range installed {
			out = append(out, foundSession{s.Path, s.Format.Name, s.Modified, s.Bytes})
		}
		return out, emptyMachine(err)
	}
	for _, p := range paths {
		if once, err := readOnce(p); once || err != nil {
			return nil, cmp.Or(err, fmt.Errorf("%w: %s has no time of its own; name log files and folders", errNothing, inputName(p)))
		}
	}
	files, _, err := formats.Expand(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.PartOf != "" {
			continue // a sub-agent's: it comes with its session
		}
		info, err := os.Stat(f.Path)
		if err != nil {
			continue // it went away since it was listed
		}
		out = append(out, foundSession{f.Path, f.Format.Name, info.ModTime(), info.Size()})
	}
	slices.SortStableFunc(out, func(x, y foundSession) int { return y.Modified.Compare(x.Modified) })
	return out, nil
}

// short is a path below the home folder as shells understand it.
func (a *app) short(path string) string {
	home := a.getenv("HOME")
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && len(home) > 1 {
		return "~/" + rest
	}
	return path
}

func (a *app) writeSessions(w io.Writer, f outputFlags, found []foundSession, zone *time.Location) error {
	theme := term.NewTheme(a.color(f))
	t := term.Table{Columns: []term.Column{{Title: "last change"}, {Title: "agent"}, {Title: "size", Right: true}, {Title: "file", Flex: true, Min: 20}}}
	for _, s := range found {
		t.Rows = append(t.Rows, term.Row{Cells: []term.Cell{
			{Text: s.Modified.In(zone).Format("2006-01-02 15:04 MST"), Style: theme.Faint}, {Text: s.Source},
			{Text: humanize.Bytes(uint64(s.Bytes))}, {Text: term.Safe(a.short(s.File))},
		}})
	}
	out := strings.Join(t.Render(a.tableWidth(f), theme), "\n") + "\n"
	if !a.utf8(f) {
		out = term.ASCII(out)
	}
	_, err := io.WriteString(w, out)
	return err
}
