package compare

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// Trial is one run of an agent at one task.
type Trial struct {
	Name     string   // what the report calls it: a file or an ID; may hold log text
	Task     Task     // pairs it with trials of the other arm
	Arm      string   // model and settings a harness recorded; "" not recorded
	Source   string   // log format; "" unknown
	Passed   *bool    // nil not recorded
	Score    *float64 // as recorded, higher is better; nil not recorded
	Excluded string   // why it does not count (it died on infrastructure); "" it counts
	Started  time.Time
	Sums
}

// Sums is what a trial used, its sub-agents included. Nil means unknown.
type Sums struct {
	Sessions      int64
	Requests      *int64 // model calls made, failed and repeated attempts included: FreeCode's turns
	Answered      *int64
	Input         *int64 // uncached + cache read + cache write
	Uncached      *int64 // what is not reported as read from or written to the cache
	CacheRead     *int64
	CacheWrite    *int64
	Output        *int64
	Calls         *int64   // tool calls that ran
	RepeatedCalls *int64   // FreeCode's repeatedCalls
	WidestBatch   *int64   // most calls that one response asked for, whether they ran or not
	CostUSD       *float64 // over the priced requests
	Unpriced      int64    // answered requests without a known price
	NoUsage       int64    // answered requests without reported usage
	Whole         int64    // sessions whose usage is known for the session as a whole, not per request
	Snapshots     int64    // answered requests whose output is not the final figure
}

// Tokens is input + output, nil where either is unknown or left out for a part of
// the answered requests.
func (s Sums) Tokens() *int64 {
	if s.Input == nil || s.Output == nil || s.NoUsage > 0 {
		return nil
	}
	return new(*s.Input + *s.Output)
}

// Priced says that the cost of every answered request is known.
func (s Sums) Priced() bool { return s.CostUSD != nil && s.Unpriced == 0 }

// Cost prices one request in USD; false if its price is unknown.
type Cost func(rollout.Request) (float64, bool)

// Trials makes trials of recorded sessions: one of every session that no other one
// here started, together with all sub-agents below it. The warnings name sub-agents
// whose parent is not here.
func Trials(recs []replay.Recording, cost Cost) (trials []Trial, warnings []string) {
	index := map[string]int{}
	for i, r := range recs {
		index[r.Session.Source+"\x00"+r.Session.ID] = i
	}
	members := make([][]replay.Recording, len(recs))
	orphans := 0
	for i, r := range recs {
		root := i
		for steps := 0; steps < len(recs); steps++ {
			s := recs[root].Session
			parent, ok := index[s.Source+"\x00"+s.ParentID]
			if s.ParentID == "" || !ok {
				break
			}
			root = parent
		}
		if r.Session.ParentID != "" && root == i {
			orphans++
		}
		members[root] = append(members[root], r)
	}
	for i, m := range members {
		if len(m) == 0 {
			continue
		}
		main := slices.IndexFunc(m, func(r replay.Recording) bool { return r.Session == recs[i].Session })
		m[0], m[max(main, 0)] = m[max(main, 0)], m[0]
		trials = append(trials, TrialOf(m, cost))
	}
	if orphans > 0 {
		warnings = append(warnings, term.Count(int64(orphans), "sub-agent session has", "sub-agent sessions have")+" no parent here; each counts as a trial of its own")
	}
	return trials, warnings
}

// TrialOf sums up one trial: its main session first, then its sub-agents. A nil
// cost prices nothing.
func TrialOf(recs []replay.Recording, cost Cost) Trial {
	if len(recs) == 0 {
		return Trial{}
	}
	main := recs[0].Session
	t := Trial{Name: filepath.Base(main.File), Source: main.Source, Task: Task{Prompt: PromptHash(main)}, Started: main.Started}
	if main.File == "" || filepath.Base(main.File) == "events.jsonl" {
		t.Name = main.ID
	}
	t.Requests, t.Answered, t.Calls, t.RepeatedCalls, t.WidestBatch = new(int64), new(int64), new(int64), new(int64), new(int64)
	for _, r := range recs {
		t.Sessions++
		t.addRequests(r.Session, cost)
		t.addCalls(r)
	}
	return t
}

// addRequests adds what the requests of a session used. Where only the session as a
// whole has an input, its sums stand for those of all requests; outputs stay those of
// the requests where all have one.
func (s *Sums) addRequests(of *rollout.Session, cost Cost) {
	whole := of.Whole()
	if len(whole) == 0 {
		for _, q := range of.Requests {
			if !q.Inherited {
				s.addRequest(q, cost)
			}
		}
		return
	}
	s.Whole++
	fromRequests := of.OutputsKnown()
	subscribed := false
	for _, q := range of.Requests {
		if q.Inherited {
			continue
		}
		*s.Requests++
		subscribed = subscribed || q.Subscription
		if fromRequests {
			add(&s.Output, q.Usage.Output)
		}
		if q.Status == rollout.Answered {
			*s.Answered++
		}
	}
	provider, model := of.OnlyModel()
	for _, r := range whole {
		q := rollout.Request{Kind: wholeSession, Provider: provider, Model: model, Usage: r.Usage, LoggedUSD: r.CostUSD, Subscription: subscribed}
		if r.Model != "" {
			q.Provider, q.Model = "", r.Model
		}
		u := r.Usage
		if fromRequests {
			u.Output = nil
		}
		s.addUsage(u)
		if !s.addCost(q, cost) {
			s.Unpriced++
		}
		if u.Input == nil || u.Output == nil && !fromRequests {
			s.NoUsage++
		}
	}
}

func (s *Sums) addUsage(u rollout.Usage) {
	add(&s.Input, u.Input)
	add(&s.Output, u.Output)
	add(&s.CacheRead, u.CacheRead)
	add(&s.CacheWrite, u.CacheWrite)
	if u.Input != nil {
		add(&s.Uncached, new(*u.Input-value(u.CacheRead)-value(u.CacheWrite)))
	}
}

// addCost adds the price of a request; false if that is unknown.
func (s *Sums) addCost(r rollout.Request, cost Cost) bool {
	if cost == nil {
		return false
	}
	usd, priced := cost(r)
	if !priced {
		return false
	}
	if s.CostUSD == nil {
		s.CostUSD = new(float64)
	}
	*s.CostUSD += usd
	return true
}

func (s *Sums) addRequest(r rollout.Request, cost Cost) {
	*s.Requests++
	u := r.Usage
	s.addUsage(u)
	priced := s.addCost(r, cost)
	if r.Status != rollout.Answered {
		return
	}
	*s.Answered++
	if !priced {
		s.Unpriced++
	}
	if u.Input == nil || u.Output == nil {
		s.NoUsage++
	}
	if u.Output != nil && !r.OutputFinal {
		s.Snapshots++
	}
}

// addCalls counts calls. A call that a script made is none of the model's.
func (s *Sums) addCalls(r replay.Recording) {
	batch := map[int]int64{}
	for i, c := range r.Session.Calls {
		if c.Inherited {
			continue
		}
		if c.Ran {
			*s.Calls++
		}
		if r.Sizes != nil && r.Sizes.Calls[i].RepeatOf >= 0 {
			if s.RepeatedCalls != nil {
				*s.RepeatedCalls++
			}
		}
		if c.Request >= 0 && c.Parent == "" {
			batch[c.Request]++
			*s.WidestBatch = max(*s.WidestBatch, batch[c.Request])
		}
	}
	if r.Sizes == nil {
		s.RepeatedCalls = nil
	}
}

func add(sum **int64, v *int64) {
	if v == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *v
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
