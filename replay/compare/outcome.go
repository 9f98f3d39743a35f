package compare

import "math"

// Outcome sets what a replay predicted of a variant beside what an A/B showed, to be
// kept and counted up later. Factors are natural logs of candidate / baseline; nil is
// unknown. Times are Unix milliseconds. Datasets keep it column by column.
type Outcome struct {
	Outcome   string // filled in where it is kept
	Variant   string
	Baseline  string // what the arms were called
	Candidate string
	From      *int64 // start of the first session of the A/B
	Until     *int64 // start of the last one
	Tasks     int64  // in both arms
	Trials    int64  // of the smaller arm
	Verdict   string
	Predicted *string // verdict of the replay

	Sessions     int64    // behind the prediction
	BaseRequests *int64   // of those
	LossyItems   *int64   // edits that may cause detours
	Share        *float64 // static saving of the recorded input
	ShareLow     *float64
	ShareHigh    *float64
	LnRequests   *float64 // static
	LnPerRequest *float64
	LnTokens     *float64
	Detours      *float64 // extra requests over BaseRequests
	DetoursLow   *float64
	DetoursHigh  *float64

	MeasuredRequests       *float64
	MeasuredRequestsLow    *float64
	MeasuredRequestsHigh   *float64
	MeasuredPerRequest     *float64
	MeasuredPerRequestLow  *float64
	MeasuredPerRequestHigh *float64
	MeasuredTokens         *float64
	MeasuredTokensLow      *float64
	MeasuredTokensHigh     *float64
	DetoursFound           *float64 // at the size of the prediction
	DetoursFoundLow        *float64
	DetoursFoundHigh       *float64
}

// OutcomeOf is what the A/B says of a prediction. The requests that it shows beyond
// the static ones are the detours found, at the size of the prediction:
//
//	found = predicted requests × (exp(measured ln requests - static ln requests) - 1)
//
// which is below 0 where the candidate took fewer. Chance moves it too: its bounds
// are those of the measured factor.
func OutcomeOf(r *Result, p Prediction, from, until *int64) Outcome {
	d := p.against(r.Deltas)
	o := Outcome{
		Variant: p.Variant, Baseline: r.Baseline.Name, Candidate: r.Candidate.Name, From: from, Until: until,
		Tasks: int64(r.PairedTasks), Trials: min(r.Baseline.Trials, r.Candidate.Trials), Verdict: r.Verdict.Verdict,
		Sessions: int64(p.Sessions), BaseRequests: p.BaselineRequests, LossyItems: p.LossyItems,
		Share: p.share(), ShareLow: p.ShareLow, ShareHigh: p.ShareHigh,
		LnRequests: d.StaticRequests, LnPerRequest: d.StaticPerRequest, LnTokens: d.StaticTokens,
		Detours: p.Detours, DetoursLow: p.DetoursLow, DetoursHigh: p.DetoursHigh,
	}
	if p.Verdict != "" {
		o.Predicted = &p.Verdict
	}
	o.MeasuredRequests, o.MeasuredRequestsLow, o.MeasuredRequestsHigh = bounds(r.Deltas.Requests)
	o.MeasuredPerRequest, o.MeasuredPerRequestLow, o.MeasuredPerRequestHigh = bounds(r.Deltas.TokensPerRequest)
	o.MeasuredTokens, o.MeasuredTokensLow, o.MeasuredTokensHigh = bounds(r.Deltas.Tokens)
	o.DetoursFound = p.found(o.MeasuredRequests, d.StaticRequests)
	o.DetoursFoundLow = p.found(o.MeasuredRequestsLow, d.StaticRequests)
	o.DetoursFoundHigh = p.found(o.MeasuredRequestsHigh, d.StaticRequests)
	return o
}

func bounds(d *Delta) (change, low, high *float64) {
	if d == nil {
		return nil, nil, nil
	}
	return d.Change, d.Low, d.High
}

func (p Prediction) found(measured, static *float64) *float64 {
	if measured == nil || static == nil || p.Requests == nil {
		return nil
	}
	return new(float64(*p.Requests) * math.Expm1(*measured-*static))
}

// share is the static saving of the recorded input.
func (p Prediction) share() *float64 {
	if p.BaselineInput == nil || p.Input == nil || *p.BaselineInput == 0 {
		return nil
	}
	return new(1 - float64(*p.Input)/float64(*p.BaselineInput))
}

// Track is how good past predictions of one figure were.
type Track struct {
	Outcomes int      `json:"outcomes"`          // that hold prediction and measurement
	Bounded  int      `json:"with_interval"`     // of them, whose measurement has an interval: more than one task
	Inside   int      `json:"inside"`            // of those, predictions inside the 95 % interval
	Error    *float64 `json:"mean_signed_error"` // mean of measured - predicted, as a log ratio; nil none
	Spread   *float64 `json:"standard_error"`    // of that mean; nil fewer than two
}

// Record is how good past predictions were.
type Record struct {
	PerRequest Track `json:"tokens_per_request"` // static, at the recorded path
	Requests   Track `json:"requests"`           // static, with the expected detours
}

// RecordOf counts outcomes up.
func RecordOf(list []Outcome) Record {
	var per, requests tracker
	for _, o := range list {
		per.add(o.LnPerRequest, o.MeasuredPerRequest, o.MeasuredPerRequestLow, o.MeasuredPerRequestHigh)
		requests.add(o.WithDetours(), o.MeasuredRequests, o.MeasuredRequestsLow, o.MeasuredRequestsHigh)
	}
	return Record{per.track(), requests.track()}
}

// WithDetours is the predicted log ratio of requests, static and with the expected
// detours; nil unknown.
func (o Outcome) WithDetours() *float64 {
	if o.LnRequests == nil || o.BaseRequests == nil || *o.BaseRequests == 0 {
		return o.LnRequests
	}
	extra := 0.0
	if o.Detours != nil {
		extra = *o.Detours
	}
	return new(math.Log(math.Exp(*o.LnRequests) + extra/float64(*o.BaseRequests)))
}

// tracker collects errors of one figure.
type tracker struct {
	errors          []float64
	bounded, inside int
}

func (t *tracker) add(predicted, measured, low, high *float64) {
	if predicted == nil || measured == nil {
		return
	}
	t.errors = append(t.errors, *measured-*predicted)
	if low == nil || high == nil || *low == *high {
		return
	}
	t.bounded++
	if *low <= *predicted && *predicted <= *high {
		t.inside++
	}
}

func (t *tracker) track() Track {
	out := Track{Outcomes: len(t.errors), Bounded: t.bounded, Inside: t.inside}
	if len(t.errors) > 0 {
		out.Error = new(mean(t.errors))
	}
	if len(t.errors) > 1 {
		out.Spread = new(math.Sqrt(variance(t.errors) / float64(len(t.errors))))
	}
	return out
}
