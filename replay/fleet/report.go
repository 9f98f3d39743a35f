package fleet

import (
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/bootstrap"
)

// Report is what replays of many sessions say, beside the estimates themselves.
type Report struct {
	Sessions   int64     `json:"sessions"`   // that were added up
	Population int64     `json:"population"` // they were drawn from; the same where all were taken
	Clusters   string    `json:"clusters"`   // what intervals take as one
	Method     string    `json:"method"`     // how intervals are made
	Learnt     *Learnt   `json:"learnt"`     // nil: base rates are those of the logs alone
	Variants   []Variant `json:"variants"`   // parallel to the estimates
}

// Learnt is what outcomes of A/Bs did to the base rates of detours.
type Learnt struct {
	Outcomes int     `json:"outcomes"`
	Weight   float64 `json:"weight"` // cases that they count as
	Factor   float64 `json:"factor"` // net rates are multiplied with it
}

// Variant is one variant over a fleet.
type Variant struct {
	Variant     string         `json:"variant"`
	Known       int64          `json:"sessions_with_usage"`
	Winners     int64          `json:"winners"` // cheaper in tokens or USD and dearer in neither
	Losers      int64          `json:"losers"`  // dearer in tokens or USD
	Unchanged   int64          `json:"unchanged"`
	Unsupported int64          `json:"unsupported"`
	Share       *Interval      `json:"static_saving_share"`     // of the recorded input; nil fewer than two clusters
	ShareUSD    *Interval      `json:"static_saving_usd_share"` // of the recorded cost
	SampleError *float64       `json:"sample_error"`            // standard error of the share against all sessions it was drawn from; nil all were taken
	Sample      *Interval      `json:"sample_interval"`         // of the share of all sessions it was drawn from, 95 %; nil all were taken, or too few
	Tokens      *Distribution  `json:"saving_tokens_per_session"`
	Shares      *Distribution  `json:"saving_share_per_session"`
	TopShare    *float64       `json:"saving_of_top_tenth"` // of what winners save, by the tenth of all sessions that saves most
	Strata      []Stratum      `json:"strata"`
	Most        []SessionShare `json:"carries_most"`
	Worst       []SessionShare `json:"loses_most"`
}

// Interval is a 95 % interval of a share of sums.
type Interval = bootstrap.Interval

// Distribution is of single sessions, each the same weight.
type Distribution struct {
	Mean   float64 `json:"mean"`
	P10    float64 `json:"p10"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Stratum is the sessions that have something in common.
type Stratum struct {
	By       string    `json:"by"` // agent, version, model, length or task
	Value    string    `json:"value"`
	Sessions int64     `json:"sessions"`
	Input    int64     `json:"input_tokens"` // recorded
	Saving   int64     `json:"static_saving_tokens"`
	Share    float64   `json:"static_saving_share"`
	Interval *Interval `json:"interval"` // nil: fewer than two clusters
	Losers   int64     `json:"losers"`
}

// SessionShare is what one session contributes.
type SessionShare struct {
	Source    string   `json:"source"`
	SessionID string   `json:"session_id"`
	File      string   `json:"file"`
	Requests  int64    `json:"requests"`
	Input     int64    `json:"input_tokens"`
	Saving    int64    `json:"static_saving_tokens"`
	SavingUSD *float64 `json:"static_saving_usd"`
	OfAll     float64  `json:"share_of_recorded_input"` // of the fleet
}

// Result is a variant's estimate over a fleet and what belongs beside it.
type Result struct {
	Estimate replay.Estimate
	Baseline replay.Totals
	Fleet    Variant
	Single   int64 // sessions of one request
	Silent   int64 // sessions without input usage
}
