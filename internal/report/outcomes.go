package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/compare"
)

// OutcomesJSON writes past outcomes with their stable keys, and how good the
// predictions were.
func OutcomesJSON(w io.Writer, list []compare.Outcome, indent bool) error {
	out := struct {
		SchemaVersion int            `json:"schema_version"`
		Outcomes      []outcomeJSON  `json:"outcomes"`
		Record        compare.Record `json:"record"`
	}{compare.SchemaVersion, []outcomeJSON{}, compare.RecordOf(list)}
	for _, o := range list {
		out.Outcomes = append(out.Outcomes, outcomeOf(o))
	}
	return WriteJSON(w, out, indent)
}

// outcomeJSON is an outcome as machines read it. Factors are natural logs.
type outcomeJSON struct {
	Variant          string      `json:"variant"`
	Baseline         string      `json:"baseline"`
	Candidate        string      `json:"candidate"`
	From             *string     `json:"measured_from"`
	Until            *string     `json:"measured_until"`
	Tasks            int64       `json:"tasks"`
	Trials           int64       `json:"trials"`
	Verdict          string      `json:"verdict"`
	PredictedVerdict *string     `json:"predicted_verdict"`
	Sessions         int64       `json:"predicted_sessions"`
	Share            [3]*float64 `json:"predicted_static_share"` // value, low, high
	LnRequests       *float64    `json:"predicted_ln_requests"`
	WithDetours      *float64    `json:"predicted_ln_requests_with_detours"`
	LnPerRequest     *float64    `json:"predicted_ln_tokens_per_request"`
	Requests         [3]*float64 `json:"measured_ln_requests"`
	PerRequest       [3]*float64 `json:"measured_ln_tokens_per_request"`
	Tokens           [3]*float64 `json:"measured_ln_tokens"`
	Detours          [3]*float64 `json:"predicted_detours"`
	Found            [3]*float64 `json:"detours_found"`
}

func outcomeOf(o compare.Outcome) outcomeJSON {
	return outcomeJSON{
		Variant: o.Variant, Baseline: o.Baseline, Candidate: o.Candidate, From: dayTime(o.From), Until: dayTime(o.Until), Tasks: o.Tasks, Trials: o.Trials,
		Verdict: o.Verdict, PredictedVerdict: o.Predicted, Sessions: o.Sessions, Share: [3]*float64{o.Share, o.ShareLow, o.ShareHigh},
		LnRequests: o.LnRequests, WithDetours: o.WithDetours(), LnPerRequest: o.LnPerRequest,
		Requests:   [3]*float64{o.MeasuredRequests, o.MeasuredRequestsLow, o.MeasuredRequestsHigh},
		PerRequest: [3]*float64{o.MeasuredPerRequest, o.MeasuredPerRequestLow, o.MeasuredPerRequestHigh},
		Tokens:     [3]*float64{o.MeasuredTokens, o.MeasuredTokensLow, o.MeasuredTokensHigh},
		Detours:    [3]*float64{o.Detours, o.DetoursLow, o.DetoursHigh}, Found: [3]*float64{o.DetoursFound, o.DetoursFoundLow, o.DetoursFoundHigh},
	}
}

func dayTime(ms *int64) *string {
	if ms == nil {
		return nil
	}
	return new(time.UnixMilli(*ms).UTC().Format(time.RFC3339))
}

// OutcomesTerminal writes past outcomes for a terminal of Options.Width columns.
func OutcomesTerminal(w io.Writer, list []compare.Outcome, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(outcomesDocument(list, o)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// OutcomesMarkdown writes past outcomes as plain Markdown.
func OutcomesMarkdown(w io.Writer, list []compare.Outcome, o Options) error {
	_, err := io.WriteString(w, markdownDocument(outcomesDocument(list, o)))
	return err
}

func outcomesDocument(list []compare.Outcome, o Options) document {
	record := compare.RecordOf(list)
	return document{title: "fclog outcomes", sections: []section{
		{prose: []string{fmt.Sprintf("**%s** of A/Bs whose variant was replayed before.", term.Count(int64(len(list)), "outcome", "outcomes"))}},
		outcomesTable(list, o),
		{title: "How good predictions were", prose: []string{
			track("Tokens per request", record.PerRequest), track("Requests, with the expected detours", record.Requests), smallNumber(len(list)),
		}},
	}}
}

func outcomesTable(list []compare.Outcome, o Options) section {
	t := &table{noteHead: "remark", columns: []column{
		{title: "variant", flex: true, min: 14}, {title: "day"}, {title: "tasks", number: true}, {title: "per request predicted", number: true}, {title: "measured", number: true},
		{title: "requests predicted", number: true, optional: 1}, {title: "measured", number: true},
	}}
	shown := list[max(0, len(list)-o.Top):]
	for _, x := range shown {
		day := term.Unknown
		if x.From != nil {
			day = time.UnixMilli(*x.From).UTC().Format(time.DateOnly)
		}
		r := row{cells: []cell{
			logged(x.Variant), plain(day), number(x.Tasks), lnCell(x.LnPerRequest), lnCell(x.MeasuredPerRequest), lnCell(x.WithDetours()), lnCell(x.MeasuredRequests),
		}}
		r.notes = []string{outcomeNote(x)}
		t.rows = append(t.rows, r)
	}
	t.more = more(len(list)-len(shown), "outcome", "outcomes")
	return section{title: "Predicted and measured", table: t, after: []string{
		"**Predicted** tokens per request are static: at the recorded path, estimated. Predicted requests are those and the expected detours. **Measured** is the A/B, change against its base. **Detours found** are the requests that it took beyond the static ones, at the size of the prediction; chance moves them too.",
	}}
}

func outcomeNote(x compare.Outcome) string {
	note := "A/B " + x.Verdict
	if x.MeasuredPerRequestLow != nil {
		note += "; per request " + compare.Range(lnPercent(*x.MeasuredPerRequestLow), lnPercent(*x.MeasuredPerRequestHigh))
	}
	if x.MeasuredRequestsLow != nil {
		note += "; requests " + compare.Range(lnPercent(*x.MeasuredRequestsLow), lnPercent(*x.MeasuredRequestsHigh))
	}
	if x.Detours != nil && x.DetoursFound != nil {
		note += fmt.Sprintf("; detours %s expected, %s found", few(*x.Detours), signedFew(*x.DetoursFound))
	}
	return note
}

func signedFew(v float64) string {
	if v < 0 {
		return "-" + few(-v)
	}
	return few(v)
}

func lnCell(v *float64) cell { return plain(term.Opt(v, lnPercent)) }

// lnPercent is a log ratio as a change in percent.
func lnPercent(v float64) string { return compare.SignedPercent(100 * math.Expm1(v)) }

// track says how good the predictions of one figure were.
func track(what string, t compare.Track) string {
	if t.Outcomes == 0 {
		return fmt.Sprintf("**%s**: no outcome holds both a prediction and a measurement.", what)
	}
	s := fmt.Sprintf("**%s**: measured beyond predicted %s on average, over %s", what, lnPercent(*t.Error), term.Count(int64(t.Outcomes), "outcome", "outcomes"))
	if t.Spread != nil {
		s += fmt.Sprintf(" (standard error %.1f points)", 100**t.Spread)
	}
	if t.Bounded == 0 {
		return s + "; none has an interval, as that takes several tasks."
	}
	return s + fmt.Sprintf("; %d of %s inside the 95 %% interval of the measurement.", t.Inside, term.Count(int64(t.Bounded), "prediction", "predictions"))
}

// fewOutcomes are too few to judge predictions by: with ten, the true share inside
// may lie 30 points from the one found.
const fewOutcomes = 10

func smallNumber(n int) string {
	if n >= fewOutcomes {
		return "An interval of the measurement alone holds a right prediction in 95 of 100 cases; predictions that lie on one side of it are wrong, or A/Bs were kept only where they surprised."
	}
	return fmt.Sprintf("**%d is few.** Nothing general follows from it: the share inside is a guess below %d outcomes, and A/Bs that are kept only where they surprised say nothing about the others.", n, fewOutcomes)
}
