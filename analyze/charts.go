package analyze

import (
	"context"
	"fmt"
)

// How much a picture shows: more would neither be seen nor fit into a small file.
const (
	chartItems    = 120 // pieces of content by themselves where tokens are shown by kind
	lifetimeItems = 24  // lifetimes
)

// Charts is what pictures show beyond an audit's lists. Requests and Lifetimes are
// of one session: the one with the most input, else with the most counted tokens.
type Charts struct {
	SessionID string
	Requests  []ChartRequest // its main chain, in order
	Lifetimes []Lifetime     // its heaviest items, heaviest first
	Items     []TopItem      // heaviest items of all sessions, heaviest first
}

// ChartRequest is one request and what it carried.
type ChartRequest struct {
	Request       int64
	Run           int64
	Kind          string // turn, compaction …
	InputTokens   *int64 // nil without usage
	OutputTokens  *int64
	CacheRead     *int64
	CacheReadable *int64  // what the previous request had sent, at most this one's input; nil for the first
	LostTokens    *int64  // to a cache break; nil there was none
	Cause         *string // of the cache break
	Compacted     bool
	NewRun        bool
	Polled        bool // its response only polled
	Parts         []ChartPart

	counted    int64
	calibrated *int64
}

// ChartPart is one kind of content of a payload. With usage the parts add up to
// the input: every kind of logged content is scaled alike to the provider's tokens.
// Without, they are raw counts.
type ChartPart struct {
	Kind   string
	Tokens float64
}

// Lifetime is an item with the stretches of the main chain that carried it.
type Lifetime struct {
	TopItem
	Spans []LifeSpan
}

// LifeSpan is a stretch of requests that carried an item unchanged.
type LifeSpan struct {
	Chain, First, Last int64
	Requests           int64 // counting ones
	Tokens             int64 // raw
	BilledTokens       *float64
}

// ItemKey names an item.
type ItemKey struct {
	SessionID string
	Item      int64
}

// RunCharts collects what pictures of an audit show.
func RunCharts(ctx context.Context, db *DB, audit *Audit) (*Charts, error) {
	c := &charter{auditor: auditor{ctx: ctx, db: db, conn: db.conn, audit: audit}, charts: &Charts{SessionID: largest(audit.Sessions)}}
	for _, step := range []func() error{c.items, c.payloads, c.parts, c.lifetimes, c.spans} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("charts: %w", err)
		}
	}
	if err := c.charts.withoutSecrets(); err != nil {
		return nil, fmt.Errorf("charts: %w", err)
	}
	return c.charts, nil
}

// ItemTexts are the beginnings of the texts that the charts' items have.
func ItemTexts(ctx context.Context, db *DB, charts *Charts) (map[ItemKey]string, error) {
	a := auditor{ctx: ctx, db: db, conn: db.conn}
	out := map[ItemKey]string{}
	for _, p := range []Params{{Limit: chartItems}, {Limit: lifetimeItems, Session: charts.SessionID}} {
		err := a.each("heaviest-texts", p, func(s scan) error {
			var k ItemKey
			var text string
			var chars int64
			if err := s(&k.SessionID, &k.Item, &text, &chars); err != nil {
				return err
			}
			out[k] = text
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("charts: %w", err)
		}
	}
	return out, nil
}

// largest is the session with the most input, else with the most counted tokens.
func largest(sessions []SessionSummary) string {
	id, input, counted := "", int64(-1), int64(-1)
	for _, s := range sessions {
		own := int64(-1)
		if s.Own.InputTokens != nil && s.Own.ReportedSessions == 0 {
			own = *s.Own.InputTokens
		}
		if own > input || own == input && s.Own.CountedTokens > counted {
			id, input, counted = s.SessionID, own, s.Own.CountedTokens
		}
	}
	return id
}

type charter struct {
	auditor
	charts *Charts
	at     map[int64]int // index of a request's payload
}

func (c *charter) items() (err error) {
	c.charts.Items, err = collect(&c.auditor, "top-items", Params{Limit: chartItems}, scanTopItem)
	return err
}

func scanTopItem(s scan, v *TopItem) error {
	return s(&v.SessionID, &v.Item, &v.Kind, &v.Tool, &v.What, &v.Tokens, &v.Requests, &v.FirstRequest, &v.LastRequest,
		&v.CarriedTokens, &v.BilledTokens, &v.Share)
}

func (c *charter) payloads() error {
	c.at = map[int64]int{}
	return c.each("request-marks", Params{Session: c.charts.SessionID}, func(s scan) error {
		var p ChartRequest
		var id string
		var chain int64
		if err := s(&id, &chain, &p.Request, &p.Run, &p.Kind, &p.InputTokens, &p.counted, &p.calibrated, &p.OutputTokens,
			&p.CacheRead, &p.CacheReadable, &p.LostTokens, &p.Cause, &p.Compacted, &p.NewRun, &p.Polled); err != nil {
			return err
		}
		if chain == 0 {
			c.at[p.Request] = len(c.charts.Requests)
			c.charts.Requests = append(c.charts.Requests, p)
		}
		return nil
	})
}

func (c *charter) parts() error {
	return c.each("composition-per-request", Params{Session: c.charts.SessionID}, func(s scan) error {
		var id, kind string
		var chain, request, tokens int64
		if err := s(&id, &chain, &request, &kind, &tokens); err != nil {
			return err
		}
		i, ok := c.at[request]
		if !ok || chain != 0 {
			return nil
		}
		p := &c.charts.Requests[i]
		scale := 1.0
		if kind != "framing" && kind != "unlogged" && p.calibrated != nil && p.counted > 0 {
			scale = float64(*p.calibrated) / float64(p.counted)
		}
		p.Parts = append(p.Parts, ChartPart{Kind: kind, Tokens: float64(tokens) * scale})
		return nil
	})
}

func (c *charter) lifetimes() error {
	items, err := collect(&c.auditor, "top-items", Params{Limit: lifetimeItems, Session: c.charts.SessionID}, scanTopItem)
	for _, item := range items {
		c.charts.Lifetimes = append(c.charts.Lifetimes, Lifetime{TopItem: item})
	}
	return err
}

func (c *charter) spans() error {
	index := map[int64]int{}
	for i, l := range c.charts.Lifetimes {
		index[l.Item] = i
	}
	return c.each("lifetimes", Params{Limit: lifetimeItems, Session: c.charts.SessionID}, func(s scan) error {
		var id string
		var item int64
		var carried int64
		var v LifeSpan
		if err := s(&id, &item, &v.Chain, &v.First, &v.Last, &v.Requests, &v.Tokens, &carried, &v.BilledTokens); err != nil {
			return err
		}
		if i, ok := index[item]; ok {
			c.charts.Lifetimes[i].Spans = append(c.charts.Lifetimes[i].Spans, v)
		}
		return nil
	})
}
