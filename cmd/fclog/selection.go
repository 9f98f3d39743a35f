package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // --tz also works where the system has no time zones

	"github.com/spf13/cobra"

	"github.com/fclog/fclog/analyze"
)

// selectionFlags say which sessions to look at.
type selectionFlags struct {
	since, until, agent, model, project, session, tz string
	last                                             int
}

func (f *selectionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only sessions active at or after `WHEN`: 2026-03-14, '2026-03-14 09:26', 7d, 12h")
	flags.StringVar(&f.until, "until", "", "only sessions started before `WHEN`")
	flags.StringVar(&f.agent, "agent", "", "only sessions of this `AGENT`: "+strings.Join(agentNames(), ", "))
	flags.StringVar(&f.model, "model", "", "only sessions in which this `MODEL` answered")
	flags.StringVar(&f.project, "project", "", "only sessions whose working directory contains `TEXT`")
	flags.StringVar(&f.session, "session", "", "only sessions whose `ID` begins so")
	flags.IntVar(&f.last, "last", 0, "only the newest `N` sessions and their sub-agents")
	f.addZone(cmd)
	complete(cmd, "agent", agentNames())
}

func (f *selectionFlags) addZone(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tz, "tz", "UTC", "time `ZONE` of days and times, such as Europe/Berlin")
}

// selection checks the flags and turns them into values.
func (f *selectionFlags) selection(cmd *cobra.Command) (analyze.Selection, *time.Location, error) {
	zone, err := time.LoadLocation(f.tz)
	if err != nil || f.tz == "Local" {
		return analyze.Selection{}, nil, usage(cmd, "--tz %q is no time zone; use a name such as Europe/Berlin", f.tz)
	}
	if err := positive(cmd, "last", f.last); err != nil {
		return analyze.Selection{}, nil, err
	}
	if f.agent != "" {
		if err := oneOf(cmd, "agent", f.agent, agentNames()); err != nil {
			return analyze.Selection{}, nil, err
		}
	}
	s := analyze.Selection{Agent: f.agent, Model: f.model, Project: f.project, Session: f.session, Last: f.last}
	now := time.Now()
	if s.Since, err = parseWhen(f.since, now, zone); err != nil {
		return s, nil, usage(cmd, "--since: %w", err)
	}
	if s.Until, err = parseWhen(f.until, now, zone); err != nil {
		return s, nil, usage(cmd, "--until: %w", err)
	}
	return s, zone, nil
}

// parseWhen reads a point in time: a date, a date and time, or how long ago.
func parseWhen(s string, now time.Time, zone *time.Location) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; use 2026-03-14, '2026-03-14 09:26', 7d or 12h", s)
}
