package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/apilog"
	"github.com/fclog/fclog/rollout/fidelity"
	"github.com/fclog/fclog/rollout/formats"
)

// maxDifferences is how many differences the screen names.
const maxDifferences = 20

// against compares rebuilt payloads with what was really sent.
func (a *app) against(cmd *cobra.Command, f *payloadFlags, paths []string) (err error) {
	for _, flag := range []string{"since", "until", "model", "project", "last"} {
		if cmd.Flags().Changed(flag) {
			return usage(cmd, "--%s does not go with --against; --session and --agent do", flag)
		}
	}
	sel, zone, err := f.selection(cmd)
	if err != nil {
		return err
	}
	s, err := a.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ctx := cmd.Context()
	files, err := a.find(ctx, s, request{paths: paths, selection: sel, zone: zone, demo: f.demo})
	if err != nil {
		return err
	}
	a.warnSkipped(s)
	held := fidelity.Held{}
	rebuilt, err := a.rebuild(ctx, s, files, held, f)
	if err != nil {
		return err
	}
	counter := tokens.New()
	sent, err := fidelity.ReadSent(f.against, counter, func(files []string) ([]*rollout.Session, error) { return bodies(ctx, files) })
	switch {
	case errors.Is(err, fidelity.ErrNoBodies):
		return fmt.Errorf("%w: %s: %w", errNothing, strings.Join(f.against, ", "), err)
	case err != nil:
		return s.named(err, f.against)
	}
	out := report.Against{
		Log: s.folderOr(files), Bodies: strings.Join(f.against, ", "), Sent: len(sent), Request: f.request, WithText: f.withText, Top: maxDifferences,
		Result: fidelity.Comparison{Tokens: counter, Held: held}.Compare(rebuilt, sent),
	}
	if err := paired(out, rebuilt, sent, f.request); err != nil {
		return err
	}
	return a.writeAgainst(f, out, zone)
}

// folderOr is what the user named, or how many logs were found.
func (s *source) folderOr(files []formats.File) string {
	switch {
	case s.folder != "":
		return s.folder
	case len(files) == 1:
		return s.name(files[0].Path)
	}
	return term.Count(int64(len(files)), "log", "logs")
}

// rebuild reads the sessions of log files, and the texts that stand in them.
func (a *app) rebuild(ctx context.Context, s *source, files []formats.File, held fidelity.Held, f *payloadFlags) ([]*rollout.Session, error) {
	var out []*rollout.Session
	for _, file := range files {
		if f.agent != "" && file.Format.Name != f.agent {
			continue
		}
		sessions, err := file.Format.Read(ctx, file.Path)
		if err != nil {
			return nil, s.named(err, []string{file.Path})
		}
		chosen := len(out)
		for _, session := range sessions {
			if strings.HasPrefix(session.ID, f.session) {
				out = append(out, session)
			}
		}
		if len(out) == chosen {
			continue
		}
		if err := held.AddLog(sources(file)...); err != nil {
			return nil, s.named(err, []string{file.Path})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none of %s matches the selection", errNothing, term.Count(int64(len(files)), "log", "logs"))
	}
	return out, nil
}

// bodies reads files of request bodies as sessions.
func bodies(ctx context.Context, paths []string) ([]*rollout.Session, error) {
	files, _, err := formats.Expand(ctx, paths)
	if errors.Is(err, formats.ErrNothing) {
		return nil, fmt.Errorf("%w: the files are in no format fclog knows", fidelity.ErrNoBodies)
	}
	if err != nil {
		return nil, err
	}
	var out []*rollout.Session
	other := ""
	for _, f := range files {
		if f.Format.Name != apilog.Name {
			other = f.Format.Title
			continue
		}
		sessions, err := f.Format.Read(ctx, f.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, sessions...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: this is a log of %s, not the bodies of requests", fidelity.ErrNoBodies, other)
	}
	return out, nil
}

// paired says why no request of the log has a partner.
func paired(a report.Against, rebuilt []*rollout.Session, sent []fidelity.Request, request int64) error {
	pairs := a.Result.Pairs()
	if len(pairs) == 0 {
		requests, models := 0, map[string]bool{}
		var from, to time.Time
		for _, s := range rebuilt {
			for _, r := range s.Requests {
				requests++
				models[r.Model] = true
				from, to = span(from, to, r.Time)
			}
		}
		known := false
		var sentFrom, sentTo time.Time
		for _, w := range sent {
			known = known || models[w.Model] || w.Model == ""
			sentFrom, sentTo = span(sentFrom, sentTo, w.Time)
		}
		why := "no response ID, usage or place in the conversation agrees"
		switch {
		case requests == 0:
			why = "the log holds no requests"
		case !known:
			why = "they are of other models"
		case !from.IsZero() && !sentFrom.IsZero() && (sentFrom.After(to.Add(time.Minute)) || from.After(sentTo.Add(time.Minute))):
			why = fmt.Sprintf("the log is of %s, the bodies of %s", period(from, to), period(sentFrom, sentTo))
		}
		return fmt.Errorf("%w: none of %s in the log is one of %s in the bodies: %s", errNothing,
			term.Count(int64(requests), "request", "requests"), term.Count(int64(len(sent)), "request", "requests"), why)
	}
	for _, p := range pairs {
		if request == 0 || int64(p.Number) == request {
			return nil
		}
	}
	return fmt.Errorf("%w: no such request in both the log and the bodies", errNothing)
}

// span widens a period by a time, if that is known.
func span(from, to, t time.Time) (time.Time, time.Time) {
	switch {
	case t.IsZero():
		return from, to
	case from.IsZero():
		return t, t
	case t.Before(from):
		from = t
	case t.After(to):
		to = t
	}
	return from, to
}

func period(from, to time.Time) string {
	const minute = "2006-01-02 15:04"
	if a, b := from.UTC().Format(minute), to.UTC().Format(minute); a != b {
		return a + " to " + b
	}
	return from.UTC().Format(minute)
}

func (a *app) writeAgainst(f *payloadFlags, out report.Against, zone *time.Location) error {
	o := report.Options{Width: a.columns(f.outputFlags), Color: a.color(f.outputFlags), UTF8: a.utf8(f.outputFlags), Location: zone}
	return a.write(f.outputFlags, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.AgainstJSON(w, out)
		case "md":
			return report.AgainstMarkdown(w, out, o)
		}
		return report.AgainstTerminal(w, out, o)
	})
}
