package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Outcome is one row of outcomes: what a replay predicted of a variant, and what a
// live A/B then showed. Factors are natural logs of candidate / baseline, so that
// they add. Nil is NULL: unknown.
type Outcome struct {
	Outcome   string  `parquet:"outcome"` // hash of the variant and the A/B: the same A/B of a variant has the same
	Variant   string  `parquet:"variant,dict"`
	Baseline  string  `parquet:"baseline"` // what the arms were called
	Candidate string  `parquet:"candidate"`
	From      *int64  `parquet:"measured_from,optional,timestamp(millisecond)"`  // start of the first session of the A/B
	Until     *int64  `parquet:"measured_until,optional,timestamp(millisecond)"` // start of the last one
	Tasks     int64   `parquet:"tasks"`                                          // in both arms
	Trials    int64   `parquet:"trials"`                                         // of the smaller arm
	Verdict   string  `parquet:"verdict,dict"`                                   // kept, rejected, inconclusive
	Predicted *string `parquet:"predicted_verdict,optional,dict"`

	Sessions     int64    `parquet:"predicted_sessions"` // behind the prediction
	BaseRequests *int64   `parquet:"predicted_base_requests,optional"`
	LossyItems   *int64   `parquet:"predicted_lossy_items,optional"`  // edits that may cause detours
	Share        *float64 `parquet:"predicted_static_share,optional"` // of the recorded input
	ShareLow     *float64 `parquet:"predicted_static_share_low,optional"`
	ShareHigh    *float64 `parquet:"predicted_static_share_high,optional"`
	LnRequests   *float64 `parquet:"predicted_ln_requests,optional"` // static: what the variant itself removes or adds
	LnPerRequest *float64 `parquet:"predicted_ln_tokens_per_request,optional"`
	LnTokens     *float64 `parquet:"predicted_ln_tokens,optional"`
	Detours      *float64 `parquet:"predicted_detours,optional"` // extra requests over predicted_base_requests
	DetoursLow   *float64 `parquet:"predicted_detours_low,optional"`
	DetoursHigh  *float64 `parquet:"predicted_detours_high,optional"`

	MeasuredRequests       *float64 `parquet:"measured_ln_requests,optional"`
	MeasuredRequestsLow    *float64 `parquet:"measured_ln_requests_low,optional"`
	MeasuredRequestsHigh   *float64 `parquet:"measured_ln_requests_high,optional"`
	MeasuredPerRequest     *float64 `parquet:"measured_ln_tokens_per_request,optional"`
	MeasuredPerRequestLow  *float64 `parquet:"measured_ln_tokens_per_request_low,optional"`
	MeasuredPerRequestHigh *float64 `parquet:"measured_ln_tokens_per_request_high,optional"`
	MeasuredTokens         *float64 `parquet:"measured_ln_tokens,optional"`
	MeasuredTokensLow      *float64 `parquet:"measured_ln_tokens_low,optional"`
	MeasuredTokensHigh     *float64 `parquet:"measured_ln_tokens_high,optional"`
	DetoursFound           *float64 `parquet:"detours_found,optional"` // extra requests at the size of the prediction: measured less static
	DetoursFoundLow        *float64 `parquet:"detours_found_low,optional"`
	DetoursFoundHigh       *float64 `parquet:"detours_found_high,optional"`
}

// SaveOutcome adds an outcome to the dataset in dir, under the month the A/B began.
// The same A/B of the same variant is kept once: with more trials it takes the place
// of the smaller one, else the one saved first stays, since a prediction made after
// it may have learnt from it. Its Outcome column is filled in here.
func SaveOutcome(dir, source string, o Outcome) error {
	if err := Check(dir); err != nil {
		return err
	}
	var err error
	if o.Outcome, err = o.identity(); err != nil {
		return err
	}
	month := "unknown"
	if o.From != nil {
		month = time.UnixMilli(*o.From).UTC().Format("2006-01")
	}
	p := place{source: source, month: month, stem: o.Outcome}
	if kept, err := parquet.ReadFile[Outcome](sidePath(dir, OutcomesTable, p)); err == nil && len(kept) == 1 && kept[0].Trials >= o.Trials {
		return nil
	}
	return writeSide(dir, newTable(OutcomesTable, []Outcome{o}, func(*Outcome) string { return "" }), p)
}

// identity tells an A/B of a variant from others by when its first session started;
// where no log says, by what was measured.
func (o Outcome) identity() (string, error) {
	of := Outcome{Variant: o.Variant, From: o.From}
	if o.From == nil {
		of.Baseline, of.Candidate, of.Tasks, of.Trials = o.Baseline, o.Candidate, o.Tasks, o.Trials
		of.MeasuredRequests, of.MeasuredPerRequest, of.MeasuredTokens = o.MeasuredRequests, o.MeasuredPerRequest, o.MeasuredTokens
	}
	raw, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}
