package compare

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout/logfile"
)

// Prediction is one variant of a `fclog replay --format json`. Nil means unknown.
type Prediction struct {
	Variant          string
	Sessions         int
	BaselineRequests *int64
	BaselineInput    *int64
	BaselineOutput   *int64
	BaselineCostUSD  *float64
	Requests         *int64 // at the low end of the variant's range
	Input            *int64
	Output           *int64
	CostUSD          *float64
	Detours          *float64 // expected extra requests; nil not estimated
	DetoursLow       *float64
	DetoursHigh      *float64
	LossyItems       *int64   // edits that the detours are of
	ShareLow         *float64 // 95 % interval of the static share; nil a handful of sessions
	ShareHigh        *float64
	Verdict          string
	Basis            string
	Problems         []string // keys that are not of the expected type
}

// PredictionsOf takes the variants of a replay as they are.
func PredictionsOf(r *replay.Report) []Prediction {
	var out []Prediction
	for _, e := range r.Variants {
		p := Prediction{
			Variant: e.Variant, Sessions: len(r.Sessions), BaselineRequests: new(r.Baseline.Requests), BaselineInput: r.Baseline.InputTokens,
			BaselineOutput: r.Baseline.OutputTokens, BaselineCostUSD: r.Baseline.CostUSD, Requests: new(e.Requests), Input: e.InputTokens,
			Output: e.OutputTokens, CostUSD: e.CostUSD, Verdict: e.Verdict, Basis: e.Basis,
		}
		if d := e.Detours; d != nil {
			p.Detours, p.DetoursLow, p.DetoursHigh, p.LossyItems = &d.Expected, &d.Low, &d.High, &d.Evidence.Edits
		}
		out = append(out, p)
	}
	return out
}

// ReadPredictions reads the variants of a replay in its JSON form.
func ReadPredictions(path string) ([]Prediction, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	var o map[string]jsontext.Value
	if err := logfile.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, lineOf(data, err), err)
	}
	var bad []string
	variants := list(o["variants"], "variants", &bad)
	if len(variants) == 0 {
		return nil, fmt.Errorf("%s: no variants in it: not the JSON of a replay", path)
	}
	base := object(o["baseline"], "baseline", &bad)
	sessions := sessionCount(o["sessions"])
	fleet := list(object(o["fleet"], "fleet", &bad)["variants"], "fleet.variants", &bad)
	out := make([]Prediction, len(variants))
	for i, raw := range variants {
		out[i] = newPrediction(raw, fmt.Sprintf("variants[%d]", i), base, bad)
		out[i].Sessions = sessions
		if i < len(fleet) {
			out[i].interval(fleet[i], fmt.Sprintf("fleet.variants[%d]", i))
		}
	}
	return out, nil
}

// interval takes what a replay of many sessions says of the share.
func (p *Prediction) interval(raw jsontext.Value, key string) {
	share := object(object(raw, key, &p.Problems)["static_saving_share"], key+".static_saving_share", &p.Problems)
	p.ShareLow = number[float64](share["low"], key+".low", &p.Problems)
	p.ShareHigh = number[float64](share["high"], key+".high", &p.Problems)
}

// sessionCount takes sessions as a list or as their number.
func sessionCount(raw jsontext.Value) int {
	var bad []string
	if len(raw) > 0 && raw.Kind() == '0' {
		return int(value(number[int64](raw, "sessions", &bad)))
	}
	return len(list(raw, "sessions", &bad))
}

func newPrediction(raw jsontext.Value, key string, base map[string]jsontext.Value, bad []string) Prediction {
	p := Prediction{Problems: bad}
	o := object(raw, key, &p.Problems)
	count := func(o map[string]jsontext.Value, name string) *int64 {
		return number[int64](o[name], key+"."+name, &p.Problems)
	}
	amount := func(o map[string]jsontext.Value, name string) *float64 {
		return number[float64](o[name], key+"."+name, &p.Problems)
	}
	p.Variant, p.Verdict, p.Basis = text(o["variant"], key+".variant", &p.Problems), text(o["verdict"], key+".verdict", &p.Problems), text(o["basis"], key+".basis", &p.Problems)
	p.BaselineRequests, p.BaselineInput, p.BaselineOutput = count(base, "requests"), count(base, "input_tokens"), count(base, "output_tokens")
	p.BaselineCostUSD = amount(base, "cost_usd")
	p.Requests, p.Input, p.Output, p.CostUSD = count(o, "requests"), count(o, "input_tokens"), count(o, "output_tokens"), amount(o, "cost_usd")
	detours := object(o["detours"], key+".detours", &p.Problems)
	p.LossyItems = count(object(detours["evidence"], key+".detours.evidence", &p.Problems), "edits")
	p.Detours, p.DetoursLow, p.DetoursHigh = amount(detours, "expected"), amount(detours, "low"), amount(detours, "high")
	return p
}

// PredictedDelta sets a static estimate beside what was measured, all as natural
// logs of the ratio candidate / baseline. The static part holds the recorded path
// fixed: it predicts tokens per request, and requests only as far as the variant
// itself takes some out. It is never the expected result of the A/B.
type PredictedDelta struct {
	Variant            string   `json:"variant"`
	Sessions           int      `json:"sessions"` // behind the estimate
	StaticRequests     *float64 `json:"static_ln_requests"`
	StaticPerRequest   *float64 `json:"static_ln_tokens_per_request"`
	StaticTokens       *float64 `json:"static_ln_tokens"`
	StaticCost         *float64 `json:"static_ln_cost_usd"`
	DetourRequests     *float64 `json:"detours_ln_requests"` // requests with the expected detours; nil not estimated
	DetourRequestsLow  *float64 `json:"detours_ln_requests_low"`
	DetourRequestsHigh *float64 `json:"detours_ln_requests_high"`
	MeasuredRequests   *float64 `json:"measured_ln_requests"`
	MeasuredPerRequest *float64 `json:"measured_ln_tokens_per_request"`
	MeasuredTokens     *float64 `json:"measured_ln_tokens"`
	MeasuredCost       *float64 `json:"measured_ln_cost_usd"`
	GapPerRequest      *float64 `json:"gap_ln_tokens_per_request"` // measured - static
	InInterval         *bool    `json:"static_per_request_in_interval"`
	Verdict            string   `json:"predicted_verdict"`
	Words              string   `json:"words"`
}

func (p Prediction) against(d Deltas) PredictedDelta {
	out := PredictedDelta{Variant: p.Variant, Sessions: p.Sessions, Verdict: p.Verdict}
	out.StaticRequests = lnRatio(float(p.BaselineRequests), float(p.Requests))
	out.StaticTokens = p.staticTokens()
	out.StaticCost = lnRatio(p.BaselineCostUSD, p.CostUSD)
	if out.StaticTokens != nil && out.StaticRequests != nil {
		out.StaticPerRequest = new(*out.StaticTokens - *out.StaticRequests)
	}
	out.DetourRequests, out.DetourRequestsLow, out.DetourRequestsHigh = p.with(p.Detours), p.with(p.DetoursLow), p.with(p.DetoursHigh)
	out.MeasuredTokens, out.MeasuredRequests = changeOf(d.Tokens), changeOf(d.Requests)
	out.MeasuredPerRequest, out.MeasuredCost = changeOf(d.TokensPerRequest), changeOf(d.CostUSD)
	if out.StaticPerRequest != nil && out.MeasuredPerRequest != nil {
		out.GapPerRequest = new(*out.MeasuredPerRequest - *out.StaticPerRequest)
		if t := d.TokensPerRequest; t.Low != nil {
			out.InInterval = new(*t.Low <= *out.StaticPerRequest && *out.StaticPerRequest <= *t.High)
		}
	}
	out.Words = out.words()
	return out
}

// with is the log ratio of requests with so many extra ones.
func (p Prediction) with(extra *float64) *float64 {
	requests := float(p.Requests)
	if requests == nil || extra == nil {
		return nil
	}
	return lnRatio(float(p.BaselineRequests), new(*requests+*extra))
}

// staticTokens is the log ratio of input + output, of input alone where the replay
// does not know output.
func (p Prediction) staticTokens() *float64 {
	before, after := float(p.BaselineInput), float(p.Input)
	if before == nil || after == nil {
		return nil
	}
	if p.BaselineOutput != nil && p.Output != nil {
		before, after = new(*before+float64(*p.BaselineOutput)), new(*after+float64(*p.Output))
	}
	return lnRatio(before, after)
}

func changeOf(d *Delta) *float64 {
	if d == nil {
		return nil
	}
	return d.Change
}

func (p PredictedDelta) words() string {
	if p.StaticPerRequest == nil || p.MeasuredPerRequest == nil || p.MeasuredRequests == nil {
		return "the estimate and the measurement have no figure in common"
	}
	pct := func(ln float64) string { return fmt.Sprintf("%+.1f %%", 100*math.Expm1(ln)) }
	return fmt.Sprintf("tokens per request: %s estimated at the recorded path, %s measured; requests: %s measured, which no replay at the recorded path can know",
		pct(*p.StaticPerRequest), pct(*p.MeasuredPerRequest), pct(*p.MeasuredRequests))
}
