package dataset

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/fclog/fclog/rollout"
)

// holdings are what a part holds that cannot be had again once it is gone from its
// log: texts, what was sent as results, and what providers counted.
type holdings struct {
	texts   map[string]trust // by their hash; the most trusted item that has it
	results map[string]trust // by call ID; the most trusted result of it
	wholes  map[string]bool  // hashes of whole outputs that were not sent
	bills   []bill           // what was counted
}

// trust is how sure it is that a text was sent as it stands there.
type trust int

const (
	missing trust = iota
	inferred
	recomputed
	logged
)

func trustOf(origin string) trust {
	switch rollout.Origin(origin) {
	case rollout.Logged:
		return logged
	case rollout.Recomputed:
		return recomputed
	}
	return inferred
}

// amounts are tokens of every sort and dollars; minus infinity what is unknown.
type amounts [8]float64

func amountsOf(usd *float64, counts ...*int64) (a amounts) {
	for i := range a {
		a[i] = math.Inf(-1)
	}
	for i, n := range counts {
		if n != nil {
			a[i+1] = float64(*n)
		}
	}
	if usd != nil && !math.IsNaN(*usd) {
		a[0] = *usd
	}
	return a
}

// known says whether anything was counted.
func (a amounts) known() bool {
	for _, x := range a {
		if !math.IsInf(x, -1) {
			return true
		}
	}
	return false
}

// covers says whether nothing of b is missing from a: counts of an answer that was
// still coming are replaced by higher ones.
func (a amounts) covers(b amounts) bool {
	for i := range a {
		if a[i] < b[i] {
			return false
		}
	}
	return true
}

// bill is what was counted for one request, or for whatever else was billed.
type bill struct {
	part, session string
	key           billName // its response, else its time
	twin          billName // what it has in common with one of another key that may be the same
	amounts       amounts
}

// billName tells bills from each other; what does not matter is zero.
type billName struct {
	what, id string
	timed    bool
	at       int64
	amounts  amounts
}

// saidItem is what of an item tells whether its text is still there.
type saidItem struct {
	Part      string  `parquet:"part,dict"`
	SessionID string  `parquet:"session_id,dict"`
	Kind      string  `parquet:"kind,dict"`
	CallID    *string `parquet:"call_id,optional"`
	Origin    string  `parquet:"origin,dict"`
	TextHash  string  `parquet:"text_hash"`
}

// madeCall is what of a call tells whether its whole output is still there.
type madeCall struct {
	Part     string  `parquet:"part,dict"`
	FullHash *string `parquet:"full_hash,optional"`
}

// usedRequest is what of a request tells whether its usage is still there.
type usedRequest struct {
	Part               string   `parquet:"part,dict"`
	SessionID          string   `parquet:"session_id,dict"`
	ResponseID         *string  `parquet:"response_id,optional"`
	Time               *int64   `parquet:"time,optional,timestamp(millisecond)"`
	InputTokens        *int64   `parquet:"input_tokens,optional"`
	CacheReadTokens    *int64   `parquet:"cache_read_tokens,optional"`
	CacheWriteTokens   *int64   `parquet:"cache_write_tokens,optional"`
	CacheWrite5mTokens *int64   `parquet:"cache_write_5m_tokens,optional"`
	CacheWrite1hTokens *int64   `parquet:"cache_write_1h_tokens,optional"`
	OutputTokens       *int64   `parquet:"output_tokens,optional"`
	ReasoningTokens    *int64   `parquet:"reasoning_tokens,optional"`
	LoggedUSD          *float64 `parquet:"logged_usd,optional"`
}

// bill is what was counted for a request. Its response names it; the name may have been
// made of the session's, which can change. One without is known by its time, which a
// reader may learn better when more of the log is there.
func (r *usedRequest) bill() bill {
	b := newBill(r.Part, r.SessionID, billName{what: "request"}, r.Time, amountsOf(r.LoggedUSD, r.InputTokens, r.CacheReadTokens, r.CacheWriteTokens,
		r.CacheWrite5mTokens, r.CacheWrite1hTokens, r.OutputTokens, r.ReasoningTokens))
	if r.ResponseID != nil {
		b.twin = b.key
		b.twin.amounts = b.amounts
		b.key = billName{what: "response", id: *r.ResponseID}
	}
	return b
}

func (b *OtherBilled) bill() bill {
	return newBill(b.Part, b.SessionID, billName{what: "other", id: b.Kind}, b.Time, amountsOf(nil, b.InputTokens, b.CacheReadTokens, b.CacheWriteTokens, b.OutputTokens))
}

func (r *Reported) bill() bill {
	b := newBill(r.Part, r.SessionID, billName{what: "reported"}, nil, amountsOf(r.CostUSD, r.InputTokens, r.CacheReadTokens, r.CacheWriteTokens,
		r.CacheWrite5mTokens, r.CacheWrite1hTokens, r.OutputTokens, r.ReasoningTokens))
	b.key = billName{what: "reported for", id: deref(r.Model)}
	return b
}

// newBill makes a bill that is known by its time, where that is known.
func newBill(part, session string, of billName, at *int64, a amounts) bill {
	b := bill{part: part, session: session, key: of, twin: of, amounts: a}
	b.twin.amounts = a
	if at != nil {
		b.key.timed, b.key.at = true, *at
	} else {
		b.key = b.twin
	}
	return b
}

// inventory is called with everything that holdings are made of.
type inventory struct {
	item func(saidItem)
	call func(madeCall)
	used func(bill)
}

// measured goes through rows that were just made.
func (rows *Rows) measured(in inventory) {
	for i := range rows.Items {
		it := &rows.Items[i]
		in.item(saidItem{it.Part, it.SessionID, it.Kind, it.CallID, it.Origin, it.TextHash})
	}
	for i := range rows.Calls {
		c := &rows.Calls[i]
		in.call(madeCall{c.Part, c.FullHash})
	}
	for i := range rows.Requests {
		r := &rows.Requests[i]
		used := usedRequest{
			r.Part, r.SessionID, r.ResponseID, r.Time, r.InputTokens, r.CacheReadTokens, r.CacheWriteTokens,
			r.CacheWrite5mTokens, r.CacheWrite1hTokens, r.OutputTokens, r.ReasoningTokens, r.LoggedUSD,
		}
		in.used(used.bill())
	}
	for i := range rows.OtherBilled {
		in.used(rows.OtherBilled[i].bill())
	}
	for i := range rows.Reported {
		in.used(rows.Reported[i].bill())
	}
}

// measuredIn goes through the files of a place.
func (s *store) measuredIn(p place, in inventory) error {
	return errors.Join(
		scanTable(s.path("items", p), func(it *saidItem) { in.item(*it) }),
		scanTable(s.path("calls", p), func(c *madeCall) { in.call(*c) }),
		scanTable(s.path("requests", p), func(r *usedRequest) { in.used(r.bill()) }),
		scanTable(s.path("other_billed", p), func(b *OtherBilled) { in.used(b.bill()) }),
		scanTable(s.path("reported", p), func(r *Reported) { in.used(r.bill()) }),
	)
}

// scanTable calls f with every row of a table. One without rows has no file.
func scanTable[T any](path string, f func(*T)) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return scanFile(path, func(rows []T) error {
		for i := range rows {
			f(&rows[i])
		}
		return nil
	})
}

func newHoldings() *holdings {
	return &holdings{texts: map[string]trust{}, results: map[string]trust{}, wholes: map[string]bool{}}
}

func (h *holdings) addItem(it saidItem) {
	t := trustOf(it.Origin)
	h.texts[it.TextHash] = max(h.texts[it.TextHash], t)
	if id := deref(it.CallID); id != "" && it.Kind == string(rollout.ToolResult) {
		h.results[id] = max(h.results[id], t)
	}
}

func (h *holdings) addCall(c madeCall) {
	if c.FullHash != nil {
		h.wholes[*c.FullHash] = true
	}
}

func (h *holdings) addBill(b bill) {
	if b.amounts.known() {
		h.bills = append(h.bills, b)
	}
}

// hasItem says whether nothing is lost with an item. A result that was worked out may
// make room for another one of the same call that is more certain.
func (h *holdings) hasItem(it saidItem) bool {
	t := trustOf(it.Origin)
	if t == logged {
		return h.texts[it.TextHash] == logged
	}
	return h.texts[it.TextHash] != missing || h.results[deref(it.CallID)] > t
}

// hasCall says the same of a call's whole output.
func (h *holdings) hasCall(c madeCall) bool {
	return c.FullHash == nil || h.wholes[*c.FullHash] || h.texts[*c.FullHash] != missing
}

// lacking lists the bills that have none among those of h, each of which stands for one:
// an equal one, else one that may be the same, else one of the same key that counts no
// less, as for an answer that was still coming.
func (h *holdings) lacking(bills []bill) []bill {
	taken := make([]bool, len(h.bills))
	bills = h.take(bills, taken, func(b bill) [2]billName { return [2]billName{b.key, b.twin} })
	bills = h.take(bills, taken, func(b bill) [2]billName { return [2]billName{b.twin} })
	return h.take(bills, taken, func(b bill) [2]billName { return [2]billName{b.key} })
}

// mostAlike bounds how many bills of one key are looked at for one.
const mostAlike = 100

// take pairs bills with those of h that have the same name, and lists what is left.
func (h *holdings) take(bills []bill, taken []bool, name func(bill) [2]billName) (left []bill) {
	if len(bills) == 0 {
		return nil
	}
	at := map[[2]billName][]int{}
	for i, b := range h.bills {
		if !taken[i] {
			at[name(b)] = append(at[name(b)], i)
		}
	}
	for _, b := range bills {
		alike := at[name(b)]
		i := slices.IndexFunc(alike[:min(len(alike), mostAlike)], func(i int) bool { return h.bills[i].amounts.covers(b.amounts) })
		if i < 0 {
			left = append(left, b)
			continue
		}
		taken[alike[i]] = true
		alike[i] = alike[0]
		at[name(b)] = alike[1:]
	}
	return left
}

// worked says whether an item that the log does not hold as it was sent counts as
// something that the part holds. Reminders and the like follow from the rest.
func worked(it saidItem) bool {
	return spoken[it.Kind] && (it.Origin == string(rollout.Recomputed) || it.Kind == string(rollout.ToolResult))
}
