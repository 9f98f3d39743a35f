package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/rollout/fidelity"
)

// Against is rebuilt payloads beside what was really sent.
type Against struct {
	Result   fidelity.Result
	Log      string // what was named, for the head
	Bodies   string
	Sent     int   // requests in the bodies
	Request  int64 // only this number of each chain; 0 all
	WithText bool  // show the text around the first difference
	Top      int   // differences to name; 0 all
}

const (
	againstSchema = 1
	// aroundText is how many characters of a text are shown from its first difference.
	aroundText = 60
	// beforeText is how many of them stand before it.
	beforeText = 15
)

// AgainstTerminal writes the comparison for a terminal of Options.Width columns.
func AgainstTerminal(w io.Writer, a Against, o Options) error {
	o.Width = min(max(o.Width, minWidth), maxWidth)
	t := terminal{width: o.Width, theme: term.NewTheme(o.Color)}
	if err := t.document(againstDocument(a, o)); err != nil {
		return fmt.Errorf("laying out the report: %w", err)
	}
	return t.flush(w, o)
}

// AgainstMarkdown writes the comparison as plain Markdown with GitHub tables.
func AgainstMarkdown(w io.Writer, a Against, o Options) error {
	_, err := io.WriteString(w, markdownDocument(againstDocument(a, o)))
	return err
}

// AgainstJSON writes the comparison as one object, every difference with it.
func AgainstJSON(w io.Writer, a Against) error {
	type difference struct {
		fidelity.Difference
		RebuiltText *string `json:"rebuilt_text,omitempty"` // from just before the first difference
		SentText    *string `json:"sent_text,omitempty"`
	}
	type request struct {
		fidelity.Pair
		Differences []difference `json:"differences"`
	}
	type session struct {
		fidelity.Session
		Sums     fidelity.Sums `json:"sums"`
		Requests []request     `json:"requests"`
	}
	out := struct {
		SchemaVersion int                   `json:"schema_version"`
		Sent          int                   `json:"sent_requests"`
		Sums          fidelity.Sums         `json:"sums"`
		Sessions      []session             `json:"sessions"`
		NotLogged     []fidelity.Lone       `json:"not_logged"`
		NotSent       []fidelity.Lone       `json:"not_sent"`
		Uncaptured    []fidelity.Uncaptured `json:"uncaptured"`
		Copies        int                   `json:"copies"`
	}{againstSchema, a.Sent, fidelity.SumOf(a.pairs()), []session{}, some(a.Result.Unlogged), some(a.Result.Unsent), some(a.Result.Uncaptured), a.Result.Copies}
	for _, s := range a.Result.Sessions {
		e := session{Session: s, Sums: fidelity.SumOf(s.Pairs), Requests: []request{}}
		for _, p := range s.Pairs {
			if !a.wants(p) {
				continue
			}
			r := request{Pair: p, Differences: []difference{}}
			for _, d := range p.Differences {
				j := difference{Difference: d}
				if a.WithText && d.At != nil {
					ours, theirs := excerpt(d.Rebuilt, *d.At), excerpt(d.Sent, *d.At)
					j.RebuiltText, j.SentText = &ours, &theirs
				}
				r.Differences = append(r.Differences, j)
			}
			e.Requests = append(e.Requests, r)
		}
		out.Sessions = append(out.Sessions, e)
	}
	return WriteJSON(w, out, true)
}

func some[T any](list []T) []T { return append([]T{}, list...) }

func (a Against) wants(p fidelity.Pair) bool { return a.Request == 0 || int64(p.Number) == a.Request }

func (a Against) pairs() []fidelity.Pair {
	var out []fidelity.Pair
	for _, p := range a.Result.Pairs() {
		if a.wants(p) {
			out = append(out, p)
		}
	}
	return out
}

func againstDocument(a Against, o Options) document {
	d := document{title: "fclog payload --against", subtitle: []text{fromLog(a.Log + " ↔ " + a.Bodies)}}
	d.sections = append(d.sections, againstSums(a))
	for _, s := range a.Result.Sessions {
		if t := againstTable(a, s, o); t != nil {
			d.sections = append(d.sections, section{title: "Session " + term.Fit(s.ID, maxCell), lines: []text{fromLog(strings.TrimSpace(s.Source + " " + s.AgentVersion))}, table: t})
		}
	}
	for _, s := range []*section{againstDifferences(a), againstLone("Sent, but not in the log", a.Result.Unlogged), againstLone("In the log, but not sent", a.Result.Unsent)} {
		if s != nil {
			d.sections = append(d.sections, *s)
		}
	}
	return d
}

// againstSums says in sentences how close the rebuilt payloads are.
func againstSums(a Against) section {
	sums := fidelity.SumOf(a.pairs())
	logged := "Nothing that was sent counts as logged."
	if sums.Share != nil {
		logged = fmt.Sprintf("**%s** of the %s tokens of logged parts were rebuilt as they were sent, in order.", floored(*sums.Share), term.Exact(sums.LoggedTokens))
	}
	s := section{prose: []string{
		fmt.Sprintf("%s of %s compared. ", term.Count(int64(sums.Requests), "request", "requests"), term.Exact(int64(a.Sent))) + logged,
	}}
	line := fmt.Sprintf("Order kept in %s of %s; %s not sent.", term.Exact(int64(sums.OrderKept)), term.Exact(int64(sums.Requests)),
		term.Count(int64(sums.Extra), "rebuilt part was", "rebuilt parts were"))
	if n := sums.Usage + sums.UsageOff; n > 0 {
		line += fmt.Sprintf(" Usage equal in %s of %s.", term.Exact(int64(sums.Usage)), term.Exact(int64(n)))
	}
	if sums.UnloggedWorst != nil {
		line += fmt.Sprintf(" The unlogged tokens are off by %s (median) to %s.", term.Percent(*sums.UnloggedMedian), term.Percent(*sums.UnloggedWorst))
	}
	s.lines = append(s.lines, text{s: line})
	if n := len(a.Result.Uncaptured); n > 0 {
		s.lines = append(s.lines, text{s: fmt.Sprintf("Nothing was sent of %s in the log: the bodies are of others.", term.Count(int64(n), "session", "sessions"))})
	}
	if a.Result.Copies > 0 {
		s.lines = append(s.lines, text{s: fmt.Sprintf("%s of compared ones in other files left out.", term.Count(int64(a.Result.Copies), "copy", "copies"))})
	}
	return s
}

// floored is a share as percent that is 100 only if it is whole.
func floored(share float64) string {
	return fmt.Sprintf("%.2f %%", float64(int64(share*1e4+1e-6))/100)
}

func againstTable(a Against, s fidelity.Session, o Options) *table {
	t := &table{columns: []column{
		{title: "request", number: true}, {title: "kind", optional: 2}, {title: "sent", optional: 3}, {title: "equal", number: true}, {title: "missing", number: true},
		{title: "extra", number: true}, {title: "different", number: true}, {title: "moved", number: true, optional: 5}, {title: "logged", number: true}, {title: "matched", number: true},
		{title: "unlogged", number: true, optional: 4}, {title: "predicted", number: true, optional: 4}, {title: "paired by", optional: 6},
	}}
	for _, p := range s.Pairs {
		if !a.wants(p) {
			continue
		}
		t.rows = append(t.rows, row{cells: []cell{
			plain(requestName(p)), plain(string(p.Kind)), plain(clock(p.Time, o)), count(p.Equal), count(p.Missing), count(p.Extra), count(p.Different), count(p.Moved),
			exactly(p.LoggedTokens), exactly(p.MatchedTokens), exactly(p.UnloggedSent), plain(term.Opt(p.UnloggedPredicted, term.Exact)), plain(string(p.By)),
		}})
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func exactly(n int64) cell { return plain(term.Exact(n)) }
func count(n int) cell     { return exactly(int64(n)) }

func requestName(p fidelity.Pair) string {
	if p.Chain > 0 {
		return fmt.Sprintf("%d.%d", p.Chain, p.Number)
	}
	return term.Exact(int64(p.Number))
}

func clock(t *time.Time, o Options) string {
	if t == nil {
		return term.Unknown
	}
	return t.In(o.location()).Format("15:04:05")
}

// againstDifferences names the differences, each text once at the first request
// that carried it.
func againstDifferences(a Against) *section {
	t := &table{columns: []column{
		{title: "request", number: true}, {title: "is"}, {title: "kind", flex: true, min: 12}, {title: "part", number: true}, {title: "tokens", number: true},
		{title: "requests", number: true}, {title: "from", number: true, optional: 2}, {title: "call", flex: true, min: 8, optional: 1},
	}}
	type once struct {
		pair fidelity.Pair
		d    fidelity.Difference
		n    int64
	}
	at := map[string]int{}
	var list []once
	for _, p := range a.pairs() {
		for _, d := range p.Differences {
			key := string(d.Change)
			for _, side := range []*fidelity.Part{d.Rebuilt, d.Sent} {
				if key += "/"; side != nil {
					key += side.SHA256
				}
			}
			if i, ok := at[key]; ok {
				list[i].n++
				continue
			}
			at[key] = len(list)
			list = append(list, once{p, d, 1})
		}
	}
	if len(list) == 0 {
		return nil
	}
	for i, e := range list {
		if a.Top > 0 && i == a.Top {
			t.more = fmt.Sprintf("%s not listed here; JSON has all", term.Count(int64(len(list)-i), "more difference is", "more differences are"))
			break
		}
		from := term.Unknown
		if e.d.At != nil {
			from = term.Exact(int64(*e.d.At + 1))
		}
		r := row{cells: []cell{
			plain(requestName(e.pair)), plain(string(e.d.Change)), kind(string(e.d.Kind), &e.d.Tool), count(e.d.Position), exactly(e.d.Tokens), exactly(e.n), plain(from), logged(e.d.CallID),
		}}
		t.rows = append(t.rows, r)
	}
	s := &section{title: "What differs, each text once", table: t, after: []string{"missing: sent, but not rebuilt; extra: rebuilt, but not sent; different: another text in this place; moved: the same text in another place. **from**: the first character that differs, where both texts are known."}}
	if a.WithText {
		for i, e := range list {
			if e.d.At == nil || a.Top > 0 && i >= a.Top {
				continue
			}
			s.lines = append(s.lines,
				text{s: excerpt(e.d.Rebuilt, *e.d.At), log: true, before: fmt.Sprintf("request %s, part %d, rebuilt: ", requestName(e.pair), e.d.Position)},
				text{s: excerpt(e.d.Sent, *e.d.At), log: true, before: fmt.Sprintf("request %s, part %d, sent: ", requestName(e.pair), e.d.Position)})
		}
	}
	return s
}

// excerpt is the text of a part around a character.
func excerpt(p *fidelity.Part, at int) string {
	runes := []rune(*p.Text)
	from := max(0, at-beforeText)
	to := min(len(runes), from+aroundText)
	s := string(runes[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(runes) {
		s += "…"
	}
	return s
}

// whyWords explains why a request has no partner.
var whyWords = map[fidelity.Why]string{
	fidelity.FailedAttempt: "no answer came",
	fidelity.NoUsage:       "without usage: no model call, such as a token count",
	fidelity.Repeated:      "sent again unchanged right after",
	fidelity.Helper:        "without the tools of the conversation: a helper call",
	fidelity.Unpaired:      "answered requests without a partner",
}

// againstLone sums up requests of one side by reason.
func againstLone(title string, list []fidelity.Lone) *section {
	if len(list) == 0 {
		return nil
	}
	t := &table{columns: []column{{title: "requests", number: true}, {title: "tokens", number: true}, {title: "what they are", flex: true, min: 20}}}
	for _, why := range []fidelity.Why{fidelity.Unpaired, fidelity.FailedAttempt, fidelity.Repeated, fidelity.Helper, fidelity.NoUsage} {
		n, tokens := int64(0), int64(0)
		for _, l := range list {
			if l.Why == why {
				n, tokens = n+1, tokens+l.Tokens
			}
		}
		if n > 0 {
			t.rows = append(t.rows, row{cells: []cell{number(n), number(tokens), plain(whyWords[why])}})
		}
	}
	return &section{title: title, table: t}
}
