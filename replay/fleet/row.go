package fleet

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/detour"
)

// Rules is the version of all rules behind a row: of variants, the cache model,
// tokens and detours. It changes whenever a row could.
const Rules = "1"

// USD is an amount in billionths of a dollar.
type USD = int64

// PerDollar is how many USD make a dollar.
const PerDollar = 1_000_000_000

// Session says which session a row is about, and which strata it is in.
type Session struct {
	Source  string
	ID      string
	Version string // of the agent; "" unknown
	Model   string // that answered most; "" unknown
	Task    string // hash of what the user asked for; "" unknown, or a sub-agent
	Root    string // ID of the session it belongs to, its own where no other started it
	File    string
}

// Figures are a session's sums over requests; nil is unknown.
type Figures struct {
	Requests   int64
	Input      *int64
	CacheRead  *int64
	CacheWrite *int64
	Output     *int64
	USD        *USD
	Counted    int64 // raw tokens
}

// Row is one session under one variant.
type Row struct {
	Session
	Recorded Figures
	Unpriced bool // some requests have no known price: USD figures cover the others
	Variant  Figures

	Tokens     *int64 // input tokens saved at the low end of the range
	TokensHigh *int64
	SpreadLow  *int64 // with calibration factors at their lower quartile
	SpreadHigh *int64
	Output     *int64
	USD        *USD // saved; negative: dearer
	USDHigh    *USD

	CacheReadLost *int64
	Clamped       int64
	Later         int64
	Edited        int64
	RemovedLow    int64
	RemovedHigh   int64
	Added         int64
	ExtraKnown    int64
	ExtraTokens   int64
	ExtraUSD      *USD
	AsksModel     bool
	Basis         string
	Unsupported   string // "" it is supported

	Lossy []detour.Lossy
	Seen  []detour.Seen
}

// Rows replays one session under every use. Session figures that no recording
// tells are left to the caller.
func Rows(ctx context.Context, e *replay.Engine, rec replay.Recording, uses []replay.Use) ([]Row, error) {
	singles, err := e.Singles(ctx, rec, uses)
	if err != nil {
		return nil, err
	}
	seen := detour.CountSeen(rec)
	plans := make([]replay.Plan, len(singles))
	for i, s := range singles {
		plans[i] = s.Plan
	}
	lossy := detour.CountLossy(rec, plans...)
	out := make([]Row, len(singles))
	for i, s := range singles {
		out[i] = rowOf(rec, s)
		out[i].Lossy, out[i].Seen = lossy[i], seen
	}
	return out, nil
}

func rowOf(rec replay.Recording, s replay.Single) Row {
	e := s.Estimate
	r := Row{
		Session: Session{Source: rec.Session.Source, ID: rec.Session.ID, Version: rec.Session.AgentVersion, File: rec.Session.File},
		Recorded: Figures{
			Requests: s.Base.Requests, Input: s.Base.InputTokens, CacheRead: s.Base.CacheReadTokens, CacheWrite: s.Base.CacheWriteTokens,
			Output: s.Base.OutputTokens, USD: Billionths(s.Base.CostUSD), Counted: s.Base.CountedTokens,
		},
		Unpriced: s.Base.CostPartial,
		Variant: Figures{
			Requests: e.Requests, Input: e.InputTokens, CacheRead: e.CacheReadTokens, CacheWrite: e.CacheWriteTokens,
			Output: e.OutputTokens, USD: Billionths(e.CostUSD), Counted: s.Base.CountedTokens - e.SavedCountedTokens,
		},
		Tokens: e.StaticSavingTokens, TokensHigh: e.StaticSavingTokensHigh, SpreadLow: e.StaticSavingSpreadLow, SpreadHigh: e.StaticSavingSpreadHigh,
		Output: e.StaticSavingOutputTokens, CacheReadLost: e.CacheReadLost, Clamped: e.ClampedRequests, Later: s.Later,
		Edited: e.EditedItems, RemovedLow: e.RemovedRequestsLow, RemovedHigh: e.RemovedRequestsHigh, Added: e.AddedRequests,
		ExtraKnown: s.Extra.Known, ExtraTokens: int64(math.Round(s.Extra.Tokens)), ExtraUSD: Billionths(s.Extra.USD),
		AsksModel: s.AsksModel, Basis: basisWord(e.Basis),
	}
	if e.StaticSavingUSD != nil {
		// The difference of the rounded costs, so that savings of rows add up to the
		// difference of their sums.
		r.USD, r.USDHigh = minus(r.Recorded.USD, r.Variant.USD), Billionths(e.StaticSavingUSDHigh)
	}
	if rec.Session.ParentID == "" {
		r.Task = compare.PromptHash(rec.Session)
	}
	if e.Unsupported != nil {
		r.Unsupported = *e.Unsupported
	}
	return r
}

func minus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a - *b)
}

// Billionths rounds dollars; nil is unknown and stays so.
func Billionths(usd *float64) *USD {
	if usd == nil {
		return nil
	}
	return new(USD(math.Round(*usd * PerDollar)))
}

func dollars(usd *USD) *float64 {
	if usd == nil {
		return nil
	}
	return new(float64(*usd) / PerDollar)
}

// basisWord is the weakest thing that a basis in words says.
func basisWord(basis string) string {
	for _, word := range []string{"estimated", "calibrated", "counted"} {
		if strings.Contains(basis, word+" ") || strings.Contains(basis, word+":") || strings.Contains(basis, word+",") {
			return word
		}
	}
	return "unknown"
}

// Options is the canonical JSON of a use: its steps in order, each with all of its
// settings.
func Options(use replay.Use) string {
	type step struct {
		Variant string        `json:"variant"`
		Values  replay.Values `json:"values"`
	}
	steps := []step{}
	for _, s := range use.Steps {
		steps = append(steps, step{s.Variant.Name, s.Values})
	}
	raw, err := json.Marshal(steps) // keys of maps are sorted
	if err != nil {
		return ""
	}
	return string(raw)
}
