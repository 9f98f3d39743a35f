package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/docs"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/rollout/formats"
)

func formatsCommand(a *app) *cobra.Command {
	f := &outputFlags{}
	cmd := &cobra.Command{
		Use:   "formats [NAME]",
		Short: "Which logs are read, what they lack, how close the picture is",
		Long: `formats lists the logs that fclog reads: of which agents and versions, what the
logs of each lack, and how close the requests that fclog rebuilds from them are to
what was really sent. With a NAME it tells everything known of one format: files,
where they lie on this machine, versions, captures, limits.`,
		Example: `  fclog formats
  fclog formats codex
  fclog formats --format json`,
		Args: checked(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.formats(cmd, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return formatNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.add(cmd, "term", "md", "json")
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return names
}

func (a *app) formats(cmd *cobra.Command, f *outputFlags, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var list []report.FormatInfo
	for _, x := range formats.All() {
		if len(args) == 0 || strings.EqualFold(args[0], x.Name) || strings.EqualFold(args[0], x.Title) {
			list = append(list, a.formatInfo(x))
		}
	}
	if len(list) == 0 {
		return notOneOf(cmd, strconv.Quote(args[0]), args[0], formatNames())
	}
	shown := report.NewFormats(list, len(args) > 0)
	return a.write(*f, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.FormatsJSON(w, shown)
		case "md":
			return report.FormatsMarkdown(w, shown)
		}
		return report.FormatsTerminal(w, shown, report.Options{Width: a.columns(*f), Color: a.color(*f), UTF8: a.utf8(*f)})
	})
}

// formatInfo puts together what the format's package, this machine and the
// captures tell.
func (a *app) formatInfo(f formats.Format) report.FormatInfo {
	info := report.FormatInfo{
		Name: f.Name, Title: f.Title, Carriers: f.About.Carriers, Places: f.About.Places, Versions: append([]string{}, f.About.Versions...),
		Unversioned: f.About.Unversioned, Fidelity: f.About.Fidelity, Limits: f.About.Limits,
		Homes: []report.FormatHome{}, Lacks: []report.FormatLack{}, Captures: []docs.Capture{},
	}
	for _, path := range f.Homes(a.getenv) {
		_, err := os.Stat(path)
		info.Homes = append(info.Homes, report.FormatHome{Path: path, Exists: err == nil})
	}
	for _, l := range f.About.Lacks {
		info.Lacks = append(info.Lacks, report.FormatLack{What: l.What, When: l.When})
	}
	for _, c := range docs.Captures() {
		if c.Source == f.Name {
			info.Captures = append(info.Captures, c)
		}
	}
	return info
}
