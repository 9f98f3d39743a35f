package main

import (
	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/replay/detour"
	"github.com/fclog/fclog/replay/fleet"
)

// stored is a row as a dataset keeps it.
func (w *fleetReplay) stored(of analyze.FleetSession, key analyze.EstimateKey, r fleet.Row) dataset.Estimate {
	e := dataset.Estimate{
		Part: of.Part, SessionID: of.ID, Variant: key.Variant, Options: key.Options, Rules: key.Rules, Prices: key.Prices,
		PricesDate: textOrNull(w.date), Task: textOrNull(r.Task),
		RecordedRequests: r.Recorded.Requests, RecordedInputTokens: r.Recorded.Input, RecordedOutputTokens: r.Recorded.Output,
		RecordedCacheRead: r.Recorded.CacheRead, RecordedCacheWrite: r.Recorded.CacheWrite, RecordedUSD: r.Recorded.USD,
		RecordedCountedTokens: r.Recorded.Counted, UnpricedRequests: r.Unpriced,
		Requests: r.Variant.Requests, InputTokens: r.Variant.Input, CacheReadTokens: r.Variant.CacheRead, CacheWriteTokens: r.Variant.CacheWrite,
		OutputTokens: r.Variant.Output, CostUSD: r.Variant.USD, SavedCountedTokens: r.Recorded.Counted - r.Variant.Counted,
		StaticSavingTokens: r.Tokens, StaticSavingTokensHigh: r.TokensHigh, StaticSavingSpreadLow: r.SpreadLow, StaticSavingSpreadHigh: r.SpreadHigh,
		StaticSavingOutputTokens: r.Output, StaticSavingUSD: r.USD, StaticSavingUSDHigh: r.USDHigh,
		CacheReadLost: r.CacheReadLost, ClampedRequests: r.Clamped, LaterCompactions: r.Later,
		EditedItems: r.Edited, RemovedRequestsLow: r.RemovedLow, RemovedRequestsHigh: r.RemovedHigh, AddedRequests: r.Added,
		ExtraKnown: r.ExtraKnown, ExtraTokens: r.ExtraTokens, ExtraUSD: r.ExtraUSD,
		AsksModel: r.AsksModel, Basis: r.Basis, Unsupported: textOrNull(r.Unsupported),
	}
	for _, n := range r.Lossy {
		e.DetourStrata = append(e.DetourStrata, dataset.LossyCount(n))
		e.LossyItems, e.LaterUsed, e.NullMatches = e.LossyItems+n.Items, e.LaterUsed+n.Used, e.NullMatches+n.Null
	}
	for _, n := range r.Seen {
		e.ObservedOutputs = append(e.ObservedOutputs, dataset.SeenCount(n))
	}
	if d := detour.FromLossy(r.Lossy, detour.Orientation()); d != nil {
		e.Detours, e.DetoursLow, e.DetoursHigh = &d.Expected, &d.Low, &d.High
	}
	return e
}

// row is a stored estimate with what the dataset knows of its session.
func (w *fleetReplay) row(source string, e dataset.Estimate, at map[string]analyze.FleetSession) fleet.Row {
	of := at[source+"\x00"+e.Part+"\x00"+e.SessionID]
	r := fleet.Row{
		Session: fleet.Session{Source: source, ID: e.SessionID, Version: of.Version, Model: of.Model, Root: of.Root, Task: textOf(e.Task), File: w.source.name(of.File)},
		Recorded: fleet.Figures{
			Requests: e.RecordedRequests, Input: e.RecordedInputTokens, CacheRead: e.RecordedCacheRead, CacheWrite: e.RecordedCacheWrite,
			Output: e.RecordedOutputTokens, USD: e.RecordedUSD, Counted: e.RecordedCountedTokens,
		},
		Unpriced: e.UnpricedRequests,
		Variant: fleet.Figures{
			Requests: e.Requests, Input: e.InputTokens, CacheRead: e.CacheReadTokens, CacheWrite: e.CacheWriteTokens,
			Output: e.OutputTokens, USD: e.CostUSD, Counted: e.RecordedCountedTokens - e.SavedCountedTokens,
		},
		Tokens: e.StaticSavingTokens, TokensHigh: e.StaticSavingTokensHigh, SpreadLow: e.StaticSavingSpreadLow, SpreadHigh: e.StaticSavingSpreadHigh,
		Output: e.StaticSavingOutputTokens, USD: e.StaticSavingUSD, USDHigh: e.StaticSavingUSDHigh,
		CacheReadLost: e.CacheReadLost, Clamped: e.ClampedRequests, Later: e.LaterCompactions,
		Edited: e.EditedItems, RemovedLow: e.RemovedRequestsLow, RemovedHigh: e.RemovedRequestsHigh, Added: e.AddedRequests,
		ExtraKnown: e.ExtraKnown, ExtraTokens: e.ExtraTokens, ExtraUSD: e.ExtraUSD,
		AsksModel: e.AsksModel, Basis: e.Basis, Unsupported: textOf(e.Unsupported),
	}
	if r.Root == "" {
		r.Root = r.ID
	}
	return r
}

func lossyCounts(list []dataset.LossyCount) []detour.Lossy {
	out := make([]detour.Lossy, len(list))
	for i, n := range list {
		out[i] = detour.Lossy(n)
	}
	return out
}

func seenCounts(list []dataset.SeenCount) []detour.Seen {
	out := make([]detour.Seen, len(list))
	for i, n := range list {
		out[i] = detour.Seen(n)
	}
	return out
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
