package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
)

type payloadFlags struct {
	selectionFlags
	outputFlags
	request  int64
	against  []string
	withText bool
	demo     bool
	redact   bool
}

func payloadCommand(a *app) *cobra.Command {
	f := &payloadFlags{}
	cmd := &cobra.Command{
		Use:   "payload [PATH…]",
		Short: "Exactly what each request carried, part by part",
		Long: `payload lists what every request of a session carried: all its parts in the order
they were sent, and how many tokens belong to none of them. Without --request
the screen shows one line per request. JSON is one object per request and line.

--against compares that with what was really sent, request by request: parts
equal, missing, extra and different, tokens matched of tokens logged, and what
fclog says of the rest. BODIES is a file of request bodies (JSON Lines, HAR, an
export of a gateway), a wire summary, or a folder of them. docs/fidelity.md says
how to capture them. JSON is then one object.

PATH is as for 'fclog audit'.`,
		Example: `  fclog payload --demo
  fclog payload --demo --request 12
  fclog payload session.jsonl --format json
  fclog payload session.jsonl --against bodies.jsonl`,
		RunE: func(cmd *cobra.Command, paths []string) error { return a.payload(cmd, f, paths) },
	}
	f.selectionFlags.add(cmd)
	f.outputFlags.add(cmd, "term", "json", "md")
	cmd.Flags().StringArrayVar(&f.against, "against", nil, "compare with `BODIES`, what was really sent; may be given more than once")
	cmd.Flags().BoolVar(&f.demo, "demo", false, "take the bundled session")
	cmd.Flags().BoolVar(&f.withText, "with-text", false, "show the text around the first difference (with --against)")
	cmd.Flags().BoolVar(&f.redact, "redact", false, redactUsage)
	cmd.Flags().Int64Var(&f.request, "request", 0, "only request `K` of each chain")
	return cmd
}

func (a *app) payload(cmd *cobra.Command, f *payloadFlags, paths []string) error {
	if err := positive(cmd, "request", int(f.request)); err != nil {
		return err
	}
	if f.demo && len(paths) > 0 {
		return usage(cmd, "--demo takes the bundled session and no PATH")
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	if len(f.against) > 0 && f.redact {
		return usage(cmd, "--redact does not go with --against, which compares texts as they are; without --with-text it shows none of them")
	}
	if len(f.against) > 0 {
		return a.against(cmd, f, paths)
	}
	switch {
	case f.withText:
		return usage(cmd, "--with-text goes with --against")
	case f.format == "md":
		return usage(cmd, "--format md goes with --against")
	}
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return err
	}
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Location: zone}
	ctx := cmd.Context()
	return a.withDB(ctx, request{paths: paths, selection: sel, zone: zone, demo: f.demo, redact: f.redact}, func(s *source, db *analyze.DB) error {
		a.warnSkipped(s)
		return a.write(f.outputFlags, func(w io.Writer) error {
			out := payloadWriter(w, f, o)
			found := false
			err := analyze.Payload(ctx, db, analyze.PayloadOptions{Request: f.request}, func(p analyze.PayloadRequest) error {
				found = true
				return out.Request(p)
			})
			if err == nil && !found {
				err = fmt.Errorf("%w: no such request", errNothing)
			}
			return errors.Join(err, out.Close())
		})
	})
}

func payloadWriter(w io.Writer, f *payloadFlags, o report.Options) report.PayloadWriter {
	switch {
	case f.format == "json":
		return report.PayloadJSON(w)
	case f.request > 0:
		return report.PayloadParts(w, o)
	}
	return report.PayloadList(w, o)
}
