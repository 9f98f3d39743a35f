package main

import (
	"context"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/replay/fleet"
)

// auditTechniques name what Touched counts, as the audit does.
func auditTechniques() []string {
	return []string{"output compression", "all tool results", "line-number prefixes"}
}

// auditFleet is what an audit of many sessions shows beside its sums; nil for a
// handful of which none was left out by a sample.
func auditFleet(ctx context.Context, db *analyze.DB, a *analyze.Audit, top int) (*fleet.Audit, error) {
	population, err := db.Population(ctx)
	if err != nil || len(a.Sessions) <= handful && int64(len(a.Sessions)) >= population {
		return nil, err
	}
	touched, err := db.Touched(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]analyze.Touched{}
	for _, t := range touched {
		by[t.Source+"\x00"+t.SessionID] = t
	}
	rows := make([]fleet.AuditRow, len(a.Sessions))
	for i, s := range a.Sessions {
		rows[i] = auditRow(s, by[s.Source+"\x00"+s.SessionID])
	}
	return fleet.AuditOf(rows, auditTechniques(), population, top), nil
}

func auditRow(s analyze.SessionSummary, t analyze.Touched) fleet.AuditRow {
	r := fleet.AuditRow{
		Session:  fleet.Session{Source: s.Source, ID: s.SessionID, Version: textOf(s.AgentVersion), Root: t.Root, File: s.File},
		Requests: s.Own.Requests, Input: s.Own.InputTokens, CacheRead: s.Own.CacheReadTokens, USD: fleet.Billionths(s.Own.CostUSD),
		Bounds: []int64{t.Shell, t.Results, t.Prefixes},
	}
	if len(s.Models) > 0 {
		r.Model = s.Models[0]
	}
	return r
}
