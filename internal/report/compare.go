package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/compare"
)

// CompareTerminal writes a comparison for a terminal of Options.Width columns.
func CompareTerminal(w io.Writer, r *compare.Result, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(compareDocument(r, o)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// CompareMarkdown writes a comparison as plain Markdown with GitHub tables.
func CompareMarkdown(w io.Writer, r *compare.Result, o Options) error {
	_, err := io.WriteString(w, markdownDocument(compareDocument(r, o)))
	return err
}

func compareDocument(r *compare.Result, o Options) document {
	d := document{title: "fclog compare", subtitle: []text{fromLog(r.Baseline.Name + " → " + r.Candidate.Name)}}
	if r.Source != "logs" {
		d.file = fromLog(r.Source)
	}
	for _, s := range []*section{
		compareVerdict(r), compareFigures(r), compareArms(r), comparePredicted(r), compareParallel(r), compareTasks(r, o), compareBasis(r),
		warningSection(r.Warnings),
	} {
		if s != nil {
			d.sections = append(d.sections, *s)
		}
	}
	return d
}

func compareVerdict(r *compare.Result) *section {
	s := &section{prose: []string{fmt.Sprintf("**%s**, by the shipping criterion: cost falls while pass rate and repeated calls hold.", r.Verdict.Verdict)}}
	s.lines = append(s.lines, fromLog(capital(r.Verdict.Reason)+"."))
	if f := r.Deltas.Factors(); f != "" {
		s.lines = append(s.lines, text{s: f + "."})
	}
	if m := r.TurnMatched; m != nil {
		s.lines = append(s.lines, text{s: m.PerRequest + "."})
	}
	return s
}

// compareFigures is the table of changes, tokens factored first.
func compareFigures(r *compare.Result) *section {
	t := &table{columns: []column{
		{title: ""}, {title: "base", number: true, optional: 2}, {title: "candidate", number: true, optional: 1}, {title: "change", number: true},
		{title: "95 % interval", number: true},
	}}
	short := func(v float64) string { return term.Short(int64(math.Round(v))) }
	two := func(v float64) string {
		if math.Abs(v) >= 10_000 {
			return short(v)
		}
		return fmt.Sprintf("%.2f", v)
	}
	d := r.Deltas
	for _, line := range []struct {
		name   string
		delta  *compare.Delta
		format func(float64) string
	}{
		{"tokens", d.Tokens, short}, {"  = requests", d.Requests, two}, {"  × tokens per request", d.TokensPerRequest, short},
		{"input tokens", d.Input, short}, {"  uncached", d.Uncached, short}, {"  cache read", d.CacheRead, short}, {"  cache write", d.CacheWrite, short},
		{"output tokens", d.Output, short}, {"USD", d.CostUSD, term.USD}, {"repeated calls", d.RepeatedCalls, two},
		{passRate, d.PassRate, term.Percent}, {"score", d.Score, two},
	} {
		if line.delta != nil {
			row := figureRow(line.name, line.delta, line.format)
			if note := reportedNote(r, line.name); note != "" {
				row.notes = append(row.notes, note)
			}
			if len(row.notes) > 0 {
				t.noteHead = "note"
			}
			t.rows = append(t.rows, row)
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return &section{
		id: "figures", title: fmt.Sprintf("Means per trial over %s", term.Count(int64(r.PairedTasks), "paired task", "paired tasks")), table: t,
		after: []string{"~ marks a change that is not significant."},
	}
}

// reportedNote marks a figure that rests on what logs report for sessions as a whole,
// and one that rests on how many requests those took.
func reportedNote(r *compare.Result, name string) string {
	n := r.Baseline.ReportedTrials + r.Candidate.ReportedTrials
	if n == 0 {
		return ""
	}
	of := fmt.Sprintf("in %s", term.Count(n, "trial", "trials"))
	switch strings.TrimSpace(name) {
	case "tokens", "input tokens", "uncached", "cache read", "cache write", "output tokens":
		return "reported for the session as a whole " + of
	case "= requests", "× tokens per request":
		return "requests estimated " + of
	}
	return ""
}

func figureRow(name string, d *compare.Delta, format func(float64) string) row {
	change, interval := term.Unknown, term.Unknown
	switch {
	case d.Log && d.Percent != nil:
		change = d.Mark + compare.SignedPercent(*d.Percent)
		if d.PercentLow != nil {
			interval = compare.Range(compare.SignedPercent(*d.PercentLow), compare.SignedPercent(*d.PercentHigh))
		}
	case !d.Log && d.Change != nil:
		change = d.Mark + difference(name, *d.Change)
		if d.Low != nil {
			// The change beside it names the unit: with it twice, wide ones do not fit.
			interval = strings.ReplaceAll(compare.Range(difference(name, *d.Low), difference(name, *d.High)), pointsUnit, "")
		}
	}
	if d.Baseline == 0 && d.Candidate == 0 {
		return row{cells: []cell{plain(name), plain(format(0)), plain(format(0)), plain("none in either"), plain("")}}
	}
	r := row{cells: []cell{plain(name), plain(format(d.Baseline)), plain(format(d.Candidate)), plain(change), plain(interval)}}
	if d.Why != "" && d.Why != "no difference" && d.Why != "the interval holds 0" {
		r.notes = []string{d.Why}
	}
	return r
}

const (
	passRate   = "pass rate"
	pointsUnit = " points"
)

// difference is a change of a figure that is compared by subtraction: a share in
// points, as its levels are in percent.
func difference(name string, v float64) string {
	s, unit := fmt.Sprintf("%+.2f", v), ""
	if name == passRate {
		s, unit = fmt.Sprintf("%+.1f", 100*v), pointsUnit
	}
	if strings.Trim(s, "+-0.") == "" {
		s = s[1:]
	}
	return s + unit
}

func compareArms(r *compare.Result) *section {
	t := &table{columns: []column{
		{title: "arm", flex: true, min: 10}, {title: "trials", number: true}, {title: "sessions", number: true, optional: 3}, {title: "requests", number: true},
		{title: "tokens", number: true}, {title: "USD", number: true}, {title: "calls", number: true, optional: 2}, {title: "repeated", number: true},
		{title: "passed", number: true}, {title: "left out", number: true, optional: 1},
	}}
	for _, a := range []compare.Arm{r.Baseline, r.Candidate} {
		passed := term.Unknown
		if a.Judged > 0 && a.Passed != nil {
			passed = fmt.Sprintf("%d of %d", *a.Passed, a.Judged)
		}
		sessions := number(a.Sessions)
		if r.Source != "logs" { // reports say nothing of them
			sessions = plain(term.Unknown)
		}
		t.rows = append(t.rows, row{cells: []cell{
			logged(a.Name), number(a.Trials), sessions, optional(a.Requests), optional(a.Tokens), plain(term.Opt(a.CostUSD, term.USD)),
			optional(a.Calls), optional(a.RepeatedCalls), plain(passed), number(a.Excluded + a.UnpairedTrials),
		}})
	}
	return &section{title: "Everything the arms used", table: t}
}

func comparePredicted(r *compare.Result) *section {
	if len(r.Predicted) == 0 {
		return nil
	}
	t := &table{columns: []column{
		{title: "variant", flex: true, min: 14}, {title: "tokens per request", number: true}, {title: "measured", number: true},
		{title: "requests with detours", number: true}, {title: "measured", number: true}, {title: "verdict", flex: true, min: 8, optional: 1},
	}}
	for _, p := range r.Predicted {
		detours := term.Opt(p.DetourRequests, logPercent)
		if p.DetourRequestsLow != nil && p.DetourRequestsHigh != nil {
			detours = compare.Range(logPercent(*p.DetourRequestsLow), logPercent(*p.DetourRequestsHigh))
		}
		verdict := logged(p.Verdict)
		if p.Verdict == "" {
			verdict = plain(term.Unknown)
		}
		t.rows = append(t.rows, row{cells: []cell{
			logged(p.Variant), plain(term.Opt(p.StaticPerRequest, logPercent)), plain(term.Opt(p.MeasuredPerRequest, logPercent)),
			plain(detours), plain(term.Opt(p.MeasuredRequests, logPercent)), verdict,
		}})
	}
	return &section{title: "Estimated before, measured now", table: t, prose: []string{
		"An estimate holds the recorded path fixed: it can speak of tokens per request, and of requests only as far as detours go.",
	}}
}

func logPercent(ln float64) string { return compare.SignedPercent(100 * math.Expm1(ln)) }

func compareParallel(r *compare.Result) *section {
	p := r.Parallel
	if p == nil {
		return nil
	}
	s := &section{title: fmt.Sprintf("%d calls in one response", p.Expected)}
	for _, arm := range []struct {
		name string
		a    compare.ParallelArm
	}{{"base", p.Baseline}, {"candidate", p.Candidate}} {
		line := fmt.Sprintf("%s: %d of %s asked for as many at once", arm.name, arm.a.Met, term.Count(int64(arm.a.Trials), "trial", "trials"))
		if arm.a.Unknown > 0 {
			line += fmt.Sprintf(", %d unknown", arm.a.Unknown)
		}
		if missed := arm.a.Missed[:min(len(arm.a.Missed), maxNames)]; len(missed) > 0 {
			line += "; not " + strings.Join(missed, ", ")
			if rest := more(len(arm.a.Missed)-len(missed), "trial", "trials"); rest != "" {
				line += " " + rest
			}
		}
		s.lines = append(s.lines, fromLog(line+"."))
	}
	return s
}

func compareTasks(r *compare.Result, o Options) *section {
	if len(r.Tasks) == 0 {
		return nil
	}
	t := &table{columns: []column{
		{title: "task", flex: true, min: 10}, {title: "trials", number: true, optional: 3}, {title: "requests", number: true}, {title: "tokens", number: true},
		{title: "change", number: true}, {title: "passed", number: true, optional: 2}, {title: "case verdict", optional: 1},
	}}
	for i, task := range r.Tasks {
		if i == o.top() {
			t.more = more(len(r.Tasks)-i, "task", "tasks")
			break
		}
		a, b := task.Baseline, task.Candidate
		whole := func(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
		short := func(v float64) string { return term.Short(int64(math.Round(v))) }
		verdict := words(task.Verdict)
		if task.RecordedDiffers {
			verdict += " (recorded: " + term.Safe(words(task.Recorded)) + ")"
		}
		t.rows = append(t.rows, row{cells: []cell{
			logged(task.Label), plain(whole(a.Trials) + " → " + whole(b.Trials)), plain(term.Opt(a.Requests, whole) + " → " + term.Opt(b.Requests, whole)),
			plain(term.Opt(a.Tokens, short) + " → " + term.Opt(b.Tokens, short)), plain(term.Opt(task.LnTokens, logPercent)),
			plain(term.Opt(a.Passed, whole) + " → " + term.Opt(b.Passed, whole)), plain(verdict),
		}})
	}
	return &section{id: "tasks", title: "Tasks", table: t}
}

// compareBasis is the noise floor, what it takes to see the change, and the method.
func compareBasis(r *compare.Result) *section {
	s := &section{title: "How sure this is"}
	if d := r.Deltas.Tokens; d != nil && d.Noise != nil {
		s.lines = append(s.lines, text{s: fmt.Sprintf("Noise floor of tokens: %s to %s, by the spread of %s.",
			logPercent(-d.Noise.Floor), logPercent(d.Noise.Floor), d.Noise.Basis)})
	}
	if n := r.Need; n != nil {
		s.lines = append(s.lines, text{s: fmt.Sprintf("To show the change measured here with 80 %% power it takes %s %s, by the spread of %s.", pairs(n.Pairs), n.Unit, n.Basis)})
	}
	s.lines = append(s.lines, text{s: fmt.Sprintf("Intervals: bootstrap %s, %s draws.", r.Method.Bootstrap, term.Exact(int64(r.Method.Draws)))})
	return s
}

// ExperimentsTerminal lists several A/Bs of one file for a terminal.
func ExperimentsTerminal(w io.Writer, list []Experiment, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(experimentsDocument(list)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// ExperimentsMarkdown lists several A/Bs of one file as Markdown.
func ExperimentsMarkdown(w io.Writer, list []Experiment, _ Options) error {
	_, err := io.WriteString(w, markdownDocument(experimentsDocument(list)))
	return err
}

// Experiment is one A/B of a file that holds several.
type Experiment struct {
	Name     string          `json:"name"`
	Recorded string          `json:"recorded_verdict"` // "" undecided
	Result   *compare.Result `json:"result"`
}

func experimentsDocument(list []Experiment) document {
	t := &table{columns: []column{
		{title: "experiment", flex: true, min: 20}, {title: "tokens", number: true}, {title: "requests", number: true}, {title: "per request", number: true},
		{title: "tasks", number: true, optional: 1}, {title: "recorded", flex: true, min: 8}, {title: "verdict"},
	}}
	for _, e := range list {
		d := e.Result.Deltas
		recorded := plain(term.Unknown)
		if e.Recorded != "" {
			recorded = logged(e.Recorded)
		}
		t.rows = append(t.rows, row{cells: []cell{
			logged(e.Name), plain(markedPercent(d.Tokens)), plain(markedPercent(d.Requests)), plain(markedPercent(d.TokensPerRequest)),
			number(int64(e.Result.PairedTasks)), recorded, plain(e.Result.Verdict.Verdict),
		}})
	}
	return document{title: "fclog compare", subtitle: []text{{s: term.Count(int64(len(list)), "experiment", "experiments")}}, sections: []section{{
		prose: []string{"Tokens = requests × tokens per request; ~ marks a change that is not significant. `--experiment NAME` shows one of them whole."},
		table: t,
	}}}
}

func markedPercent(d *compare.Delta) string {
	if d == nil || d.Percent == nil {
		return term.Unknown
	}
	return d.Mark + compare.SignedPercent(*d.Percent)
}
