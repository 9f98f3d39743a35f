package fleet

import (
	"cmp"
	"slices"

	"github.com/fclog/fclog/replay/bootstrap"
)

// AuditRow is one session as it was recorded.
type AuditRow struct {
	Session
	Requests  int64
	Input     *int64
	CacheRead *int64
	USD       *USD
	Bounds    []int64 // by technique, input tokens that it could touch at most
}

// Audit is what many recorded sessions show beside their sums.
type Audit struct {
	Sessions   int64         `json:"sessions"`
	Population int64         `json:"population"` // they were drawn from; the same where all were taken
	Input      *Distribution `json:"input_tokens_per_session"`
	Requests   *Distribution `json:"requests_per_session"`
	CostUSD    *Distribution `json:"cost_usd_per_session"`
	TopTenth   *float64      `json:"input_of_top_tenth"` // share of all input that the tenth of sessions holds that sent most
	Shares     []AuditShare  `json:"shares"`
	Strata     []AuditGroup  `json:"strata"`
	Most       []AuditHeavy  `json:"carries_most"`
}

// AuditShare is a share of all recorded input, with its interval and how it differs
// from session to session.
type AuditShare struct {
	Name        string        `json:"name"`
	Basis       string        `json:"basis"` // measured, or upper bound
	Share       *Interval     `json:"share"`
	SampleError *float64      `json:"sample_error"`    // against all sessions it was drawn from; nil all were taken
	Sample      *Interval     `json:"sample_interval"` // of the share of all those, 95 %; nil all were taken, or too few
	PerSession  *Distribution `json:"share_per_session"`
	Touched     int64         `json:"sessions_touched"`
}

// AuditGroup is the sessions that have something in common.
type AuditGroup struct {
	By       string   `json:"by"`
	Value    string   `json:"value"`
	Sessions int64    `json:"sessions"`
	Requests int64    `json:"requests"`
	Input    int64    `json:"input_tokens"`
	OfAll    float64  `json:"share_of_input"`
	CostUSD  *float64 `json:"cost_usd"` // of sessions with a known cost; nil none
}

// AuditHeavy is one session that sent much.
type AuditHeavy struct {
	Source    string  `json:"source"`
	SessionID string  `json:"session_id"`
	File      string  `json:"file"`
	Requests  int64   `json:"requests"`
	Input     int64   `json:"input_tokens"`
	OfAll     float64 `json:"share_of_input"`
}

// AuditOf sums recorded sessions up, in any order. techniques name the bounds of the
// rows. It names so many sessions.
func AuditOf(rows []AuditRow, techniques []string, population int64, top int) *Audit {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b AuditRow) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID), cmp.Compare(a.File, b.File))
	})
	a := &Audit{Sessions: int64(len(rows)), Population: population, Shares: []AuditShare{}, Strata: []AuditGroup{}, Most: []AuditHeavy{}}
	var input, requests, usd []float64
	for _, r := range rows {
		requests = append(requests, float64(r.Requests))
		if r.Input != nil {
			input = append(input, float64(*r.Input))
		}
		if r.USD != nil {
			usd = append(usd, *dollars(r.USD))
		}
	}
	a.Input, a.Requests, a.CostUSD, a.TopTenth = distributionOf(input), distributionOf(requests), distributionOf(usd), topShare(input)
	a.Shares = append(a.Shares, shareOf("read from the cache", "measured", rows, population, func(r AuditRow) *int64 { return r.CacheRead }))
	for i, name := range techniques {
		a.Shares = append(a.Shares, shareOf(name, "upper bound", rows, population, func(r AuditRow) *int64 { return &r.Bounds[i] }))
	}
	a.Strata = groupsOf(rows)
	a.Most = heaviest(rows, top)
	return a
}

func shareOf(name, basis string, rows []AuditRow, population int64, of func(AuditRow) *int64) AuditShare {
	var list []slim
	var shares []float64
	out := AuditShare{Name: name, Basis: basis}
	for _, r := range rows {
		part := of(r)
		list = append(list, slim{source: r.Source, id: r.ID, root: r.Root, task: r.Task, input: r.Input, saved: part})
		if r.Input != nil && part != nil && *r.Input > 0 {
			shares = append(shares, float64(*part)/float64(*r.Input))
		}
		if part != nil && *part > 0 {
			out.Touched++
		}
	}
	out.Share, out.PerSession = within(intervalOf(list, tokensOf), 0), distributionOf(shares)
	if int64(len(rows)) < population {
		if se, ok := bootstrap.Sampled(pointsOf(list, tokensOf), population); ok {
			out.SampleError = &se
			out.Sample = sampled(out.Share, len(list), population)
		}
	}
	return out
}

// groupsOf divides sessions by each dimension but tasks, which audits do not know.
func groupsOf(rows []AuditRow) []AuditGroup {
	out := []AuditGroup{}
	var all int64
	for _, r := range rows {
		all += known(r.Input)
	}
	for _, d := range dimensions() {
		groups := map[string]*AuditGroup{}
		usd := map[string]*int64{}
		for _, r := range rows {
			v := d.of(slim{source: r.Source, version: r.Version, model: r.Model, requests: r.Requests, task: r.Task})
			if v == "" || d.name == "task" {
				continue
			}
			if groups[v] == nil {
				groups[v] = &AuditGroup{By: d.name, Value: v}
			}
			groups[v].add(r)
			if r.USD != nil {
				if usd[v] == nil {
					usd[v] = new(int64)
				}
				*usd[v] += *r.USD
			}
		}
		out = append(out, sortedGroups(groups, usd, all)...)
	}
	return out
}

func (g *AuditGroup) add(r AuditRow) {
	g.Sessions++
	g.Requests += r.Requests
	g.Input += known(r.Input)
}

func sortedGroups(groups map[string]*AuditGroup, usd map[string]*int64, all int64) []AuditGroup {
	var list []AuditGroup
	for v, g := range groups {
		g.CostUSD = dollars(usd[v])
		if all > 0 {
			g.OfAll = float64(g.Input) / float64(all)
		}
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b AuditGroup) int { return cmp.Or(cmp.Compare(b.Input, a.Input), cmp.Compare(a.Value, b.Value)) })
	return list
}

func heaviest(rows []AuditRow, top int) []AuditHeavy {
	var all int64
	for _, r := range rows {
		all += known(r.Input)
	}
	list := slices.DeleteFunc(slices.Clone(rows), func(r AuditRow) bool { return known(r.Input) == 0 })
	slices.SortStableFunc(list, func(a, b AuditRow) int { return cmp.Compare(*b.Input, *a.Input) })
	out := []AuditHeavy{}
	for _, r := range list[:min(top, len(list))] {
		out = append(out, AuditHeavy{r.Source, r.ID, r.File, r.Requests, *r.Input, float64(*r.Input) / float64(all)})
	}
	return out
}
