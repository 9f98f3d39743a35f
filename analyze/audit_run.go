package analyze

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/duckdb/duckdb-go/v2"
)

// topItems is how many single pieces of content an audit lists.
const topItems = 20

// RunAudit answers everything the audit report shows from the selected sessions.
func RunAudit(ctx context.Context, db *DB) (*Audit, error) {
	a := &auditor{ctx: ctx, db: db, conn: db.conn, audit: &Audit{SchemaVersion: SchemaVersion}}
	if err := a.sessions(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	// What takes longest comes first, and what the last of them needs before it.
	err := a.twoAtATime([]func(*auditor) error{
		(*auditor).bySession, (*auditor).composition, (*auditor).cacheBreaks, (*auditor).counting, (*auditor).polling, (*auditor).serialChains,
		(*auditor).savings, (*auditor).topItems, (*auditor).repeatedCalls, (*auditor).kinds, (*auditor).leftOut, (*auditor).costBasis,
		(*auditor).unlogged, (*auditor).missing, (*auditor).otherBilled, (*auditor).problems,
	})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err := a.audit.withoutSecrets(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return a.audit, nil
}

// twoAtATime takes steps that need nothing of each other: most of a question about
// a usual session is planning, which DuckDB does with one thread.
func (a *auditor) twoAtATime(do []func(*auditor) error) error {
	steps := make([]step, len(do))
	for i := range do {
		steps[i] = func(ctx context.Context, conn *sql.Conn) error {
			worker := *a
			worker.ctx, worker.conn = ctx, conn
			return do[i](&worker)
		}
	}
	return atOnce(a.ctx, []*sql.Conn{a.db.conn, a.db.second}, steps)
}

// bySession completes the sessions, of which each step needs what the one before it
// found out.
func (a *auditor) bySession() error {
	for _, step := range []func() error{a.copies, a.totals, a.inclusive, a.growth} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// serialChains readies what the savings need beside what other questions need.
func (a *auditor) serialChains() error { return a.db.fill(a.ctx, a.conn, "serial_chains") }

type auditor struct {
	ctx   context.Context
	db    *DB
	conn  *sql.Conn // one of the database's
	audit *Audit
	basis Basis               // of token counts over all sessions
	twins map[sessionKey]bool // sessions with requests that a log of another format owns
}

// scan fills the columns of one row, as sql.Rows.Scan does.
type scan func(dest ...any) error

// each runs a question and calls do for every row.
func (a *auditor) each(question string, p Params, do func(scan) error) error {
	rows, err := a.db.ask(a.ctx, a.conn, question, p)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return fmt.Errorf("question %s: %w", question, err)
		}
	}
	return rows.Err()
}

// collect runs a question and returns one value per row, never nil.
func collect[T any](a *auditor, question string, p Params, read func(scan, *T) error) ([]T, error) {
	out := []T{}
	err := a.each(question, p, func(s scan) error {
		var v T
		if err := read(s, &v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

func (a *auditor) sessions() (err error) {
	a.basis = Counted
	a.audit.Sessions, err = collect(a, "sessions", Params{}, func(s scan, v *SessionSummary) error {
		var models duckdb.Composite[[]string]
		var public bool
		var skip any
		if err := s(&v.SessionID, &v.Source, &v.AgentVersion, &v.Agent, &v.ParentSessionID, &skip, &models,
			&v.StartedAt, &v.EndedAt, &skip, &v.File, &skip, &public, &skip); err != nil {
			return err
		}
		v.Models = append([]string{}, models.Get()...)
		if !public {
			a.basis = Calibrated
		}
		return nil
	})
	return err
}

func (a *auditor) totals() error {
	i := 0
	return a.each("session-totals", Params{}, func(s scan) error {
		var id, source string
		var skip any
		var usageBasis *string
		t := Totals{Sessions: 1}
		if err := s(&id, &source, &skip, &t.Runs, &t.Requests, &t.AnsweredRequests,
			&t.InputTokens, &t.UncachedInputTokens, &t.CacheReadTokens, &t.CacheWriteTokens, &t.OutputTokens, &t.ReasoningTokens,
			&t.CostUSD, &t.CostPartial, &t.CountedTokens, &t.FramingTokens, &t.UnloggedTokens, &t.PeakInputTokens,
			&t.Calls, &t.RepeatedCalls, &t.RepeatedCallsStrict, &t.NonFinalOutputs,
			&t.CalibratedTokens, &t.RequestsWithoutUsage, &t.RequestsWithoutOutput, &usageBasis, &t.LoggedCostUSD, &t.UnreportedOutputTokens); err != nil {
			return err
		}
		if usageBasis != nil && *usageBasis == "session" {
			t.ReportedSessions = 1
		}
		if t.Requests == 0 && a.twins[sessionKey{source, id}] {
			t.Sessions = 0 // the session is counted where its requests are
		}
		own := &a.audit.Sessions[i]
		if own.SessionID != id || own.Source != source {
			return fmt.Errorf("totals of session %s where %s was expected", id, own.SessionID)
		}
		own.Own = t
		a.audit.Totals.add(t)
		i++
		return nil
	})
}

// sessionKey names a session; IDs are unique within a source only.
type sessionKey struct{ source, id string }

// inclusive adds every session's own totals to itself and to all sessions above
// it.
func (a *auditor) inclusive() error {
	index := map[sessionKey]int{}
	for i, s := range a.audit.Sessions {
		index[sessionKey{s.Source, s.SessionID}] = i
	}
	parent := map[sessionKey]string{}
	err := a.each("session-parents", Params{}, func(s scan) error {
		var k sessionKey
		var p string
		if err := s(&k.source, &k.id, &p); err != nil {
			return err
		}
		parent[k] = p
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range a.audit.Sessions {
		seen := map[sessionKey]bool{}
		for k := (sessionKey{s.Source, s.SessionID}); k.id != "" && !seen[k]; k.id = parent[k] {
			seen[k] = true
			if i, ok := index[k]; ok {
				a.audit.Sessions[i].Inclusive.add(s.Own)
			}
		}
	}
	return nil
}

// add adds what is known; a sum stays nil while nothing is.
func (t *Totals) add(o Totals) {
	t.Sessions += o.Sessions
	t.Runs += o.Runs
	t.Requests += o.Requests
	t.AnsweredRequests += o.AnsweredRequests
	t.CostPartial = t.CostPartial || o.CostPartial
	t.CountedTokens += o.CountedTokens
	t.Calls += o.Calls
	t.RepeatedCalls += o.RepeatedCalls
	t.RepeatedCallsStrict += o.RepeatedCallsStrict
	t.NonFinalOutputs += o.NonFinalOutputs
	t.RequestsWithoutUsage += o.RequestsWithoutUsage
	t.RequestsWithoutOutput += o.RequestsWithoutOutput
	t.ReportedSessions += o.ReportedSessions
	t.LoggedCostUSD = addKnown(t.LoggedCostUSD, o.LoggedCostUSD)
	t.UnreportedOutputTokens = addKnown(t.UnreportedOutputTokens, o.UnreportedOutputTokens)
	t.InputTokens = addKnown(t.InputTokens, o.InputTokens)
	t.UncachedInputTokens = addKnown(t.UncachedInputTokens, o.UncachedInputTokens)
	t.CacheReadTokens = addKnown(t.CacheReadTokens, o.CacheReadTokens)
	t.CacheWriteTokens = addKnown(t.CacheWriteTokens, o.CacheWriteTokens)
	t.OutputTokens = addKnown(t.OutputTokens, o.OutputTokens)
	t.ReasoningTokens = addKnown(t.ReasoningTokens, o.ReasoningTokens)
	t.CostUSD = addKnown(t.CostUSD, o.CostUSD)
	t.FramingTokens = addKnown(t.FramingTokens, o.FramingTokens)
	t.CalibratedTokens = addKnown(t.CalibratedTokens, o.CalibratedTokens)
	t.UnloggedTokens = addKnown(t.UnloggedTokens, o.UnloggedTokens)
	if o.PeakInputTokens != nil && (t.PeakInputTokens == nil || *o.PeakInputTokens > *t.PeakInputTokens) {
		peak := *o.PeakInputTokens
		t.PeakInputTokens = &peak
	}
}

// addKnown returns the sum of two values that may be unknown.
func addKnown[N int64 | float64](a, b *N) *N {
	switch {
	case b == nil:
		return a
	case a == nil:
		sum := *b
		return &sum
	}
	sum := *a + *b
	return &sum
}

func (a *auditor) kinds() (err error) {
	a.audit.Kinds, err = collect(a, "usage-by-kind", Params{}, func(s scan, v *KindUsage) error {
		return s(&v.Kind, &v.Sessions, &v.Requests, &v.AnsweredRequests, &v.InputTokens, &v.CacheReadTokens, &v.CacheWriteTokens,
			&v.OutputTokens, &v.CostUSD, &v.CostPartial)
	})
	return err
}

// copies adds the sessions up by where their requests stand and count.
func (a *auditor) copies() error {
	a.audit.Copies, a.twins = []Copy{}, map[sessionKey]bool{}
	index := map[Copy]int{}
	seen := map[[2]string]bool{} // a session and the group it is counted in
	return a.each("copies", Params{}, func(s scan) error {
		var id string
		var owner *string
		var v Copy
		if err := s(&id, &v.Source, &v.Basis, &owner, &v.OwnerSource, &v.Requests); err != nil {
			return err
		}
		if v.Source != v.OwnerSource {
			a.twins[sessionKey{v.Source, id}] = true
		}
		key := Copy{Source: v.Source, OwnerSource: v.OwnerSource, Basis: v.Basis}
		i, ok := index[key]
		if !ok {
			i = len(a.audit.Copies)
			index[key] = i
			a.audit.Copies = append(a.audit.Copies, key)
		}
		sum := &a.audit.Copies[i]
		sum.Requests += v.Requests
		if at := [2]string{id, fmt.Sprint(i)}; !seen[at] {
			seen[at] = true
			sum.Sessions++
		}
		return nil
	})
}

func (a *auditor) costBasis() (err error) {
	a.audit.CostBasis, err = collect(a, "cost-basis", Params{}, func(s scan, v *CostBasis) error {
		return s(&v.Provider, &v.Model, &v.Basis, &v.Requests, &v.PriceDate, &v.PriceFile)
	})
	return err
}

func (a *auditor) composition() (err error) {
	a.audit.Composition, err = collect(a, "composition", Params{}, func(s scan, v *Share) error {
		v.Basis = a.basis
		err := s(&v.Kind, &v.Tool, &v.Items, &v.Tokens, &v.CarriedTokens, &v.BilledTokens, &v.Share)
		if v.Kind == "framing" {
			v.Basis = Calibrated
		}
		return err
	})
	return err
}

// unlogged adds the conversations up.
func (a *auditor) unlogged() (err error) {
	u := &a.audit.Unlogged
	u.Constants, err = collect(a, "unlogged", Params{}, func(s scan, v *Constant) error {
		var part Unlogged
		err := s(&v.SessionID, &v.Source, &v.Chain, &v.Model, &v.Method, &v.Tokens, &v.Low, &v.High, &v.Requests,
			&part.Tokens, &part.ConstantTokens, &part.ConstantLow, &part.ConstantHigh, &part.ChangingTokens,
			&v.BlindRequests, &part.BlindTokens, &part.BlindLow, &part.BlindHigh)
		if v.Tokens == nil {
			part.UndividedTokens = part.Tokens
		} else {
			part.BlindRequests = v.BlindRequests
			part.UndividedTokens = part.negative()
		}
		u.add(part)
		return err
	})
	return err
}

// negative is what a conversation lacks where its log holds more than was sent: no
// part of it is constant or changing then. nil elsewhere.
func (u *Unlogged) negative() *int64 {
	if u.Tokens == nil || *u.Tokens >= 0 {
		return nil
	}
	return u.Tokens
}

func (u *Unlogged) add(o Unlogged) {
	u.Tokens = addKnown(u.Tokens, o.Tokens)
	u.ConstantTokens = addKnown(u.ConstantTokens, o.ConstantTokens)
	u.ConstantLow = addKnown(u.ConstantLow, o.ConstantLow)
	u.ConstantHigh = addKnown(u.ConstantHigh, o.ConstantHigh)
	u.ChangingTokens = addKnown(u.ChangingTokens, o.ChangingTokens)
	u.UndividedTokens = addKnown(u.UndividedTokens, o.UndividedTokens)
	u.BlindRequests += o.BlindRequests
	u.BlindTokens = addKnown(u.BlindTokens, o.BlindTokens)
	u.BlindLow = addKnown(u.BlindLow, o.BlindLow)
	u.BlindHigh = addKnown(u.BlindHigh, o.BlindHigh)
}

func (a *auditor) topItems() (err error) {
	a.audit.TopItems, err = collect(a, "top-items", Params{Limit: topItems}, scanTopItem)
	return err
}

func (a *auditor) repeatedCalls() (err error) {
	a.audit.RepeatedCalls, err = collect(a, "repeated-calls", Params{}, func(s scan, v *RepeatedCall) error {
		return s(&v.SessionID, &v.Tool, &v.Class, &v.Args, &v.Times, &v.Repeats, &v.StrictRepeats, &v.Tokens, &v.CarriedTokens)
	})
	return err
}

func (a *auditor) polling() error {
	v := &a.audit.Polling
	v.Basis = Estimated
	return a.each("polling", Params{}, func(s scan) error {
		return s(&v.Episodes, &v.Polls, &v.EmptyPolls, &v.RequestsLow, &v.RequestsHigh, &v.InputTokens, &v.OutputTokens, &v.PiggyBacked)
	})
}

func (a *auditor) cacheBreaks() (err error) {
	a.audit.CacheBreaks, err = collect(a, "cache-break-causes", Params{}, func(s scan, v *CacheBreak) error {
		v.Basis = Measured
		var resent any
		return s(&v.Cause, &v.Requests, &v.LostTokens, &resent, &v.ShareOfInput)
	})
	return err
}

// growth follows the main chain of the session with the most input.
func (a *auditor) growth() (err error) {
	a.audit.Growth = []GrowthPoint{}
	largest, most := "", int64(-1)
	for _, s := range a.audit.Sessions {
		if s.Own.InputTokens != nil && *s.Own.InputTokens > most {
			largest, most = s.SessionID, *s.Own.InputTokens
		}
	}
	if most < 0 {
		return nil
	}
	return a.each("growth", Params{Session: largest}, func(s scan) error {
		var id string
		var chain int64
		var event *string
		var events duckdb.Composite[[]string]
		var skip any
		v := GrowthPoint{}
		if err := s(&id, &chain, &v.Request, &skip, &skip, &v.InputTokens, &skip, &skip, &skip, &event, &events); err != nil {
			return err
		}
		if event != nil {
			v.Event = *event
		}
		v.Events = append([]string{}, events.Get()...)
		if chain == 0 {
			a.audit.Growth = append(a.audit.Growth, v)
		}
		return nil
	})
}

// otherBilled adds the sessions up by kind, in order of kind.
func (a *auditor) otherBilled() error {
	a.audit.OtherBilled = []OtherBilled{}
	index := map[string]int{}
	return a.each("other-billed", Params{}, func(s scan) error {
		var id string
		var v OtherBilled
		if err := s(&id, &v.Kind, &v.Calls, &v.InputTokens, &v.OutputTokens, &v.Estimate); err != nil {
			return err
		}
		i, ok := index[v.Kind]
		if !ok {
			index[v.Kind] = len(a.audit.OtherBilled)
			a.audit.OtherBilled = append(a.audit.OtherBilled, v)
			return nil
		}
		sum := &a.audit.OtherBilled[i]
		sum.Calls += v.Calls
		sum.InputTokens = addKnown(sum.InputTokens, v.InputTokens)
		sum.OutputTokens = addKnown(sum.OutputTokens, v.OutputTokens)
		sum.Estimate = sum.Estimate || v.Estimate
		return nil
	})
}

func (a *auditor) counting() (err error) {
	a.audit.Counting, err = collect(a, "explained", Params{}, func(s scan, v *Counting) error {
		return s(&v.SessionID, &v.Model, &v.Encoding, &v.PublicEncoding, &v.Factor, &v.FactorLow, &v.FactorHigh,
			&v.FramingPerMessage, &v.Pairs, &v.Explained, &v.LeftOut, &v.Cause)
	})
	return err
}

func (a *auditor) missing() (err error) {
	a.audit.Missing, err = collect(a, "missing", Params{}, func(s scan, v *Missing) error {
		return s(&v.What, &v.Sessions)
	})
	return err
}

func (a *auditor) leftOut() error {
	return a.each("left-out", Params{}, func(s scan) error {
		var why string
		var skip any
		if err := s(&skip, &skip, &skip, &skip, &skip, &why); err != nil {
			return err
		}
		if why == "deselected" {
			a.audit.LeftOut.Deselected++
			return nil
		}
		a.audit.LeftOut.SubAgentSessions++
		return nil
	})
}

func (a *auditor) problems() (err error) {
	a.audit.Problems, err = collect(a, "problems", Params{}, func(s scan, v *Problem) error {
		var id any
		return s(&id, &v.File, &v.Line, &v.Kind, &v.Detail, &v.Count)
	})
	return err
}
