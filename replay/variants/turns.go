package variants

import (
	"math"
	"regexp"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// Borders between the regions of a payload: positions below frontEnd stand before
// the conversation, those from tailStart on behind it.
const (
	slotBits  = 40
	frontEnd  = int64(rollout.SlotConversation) << slotBits
	tailStart = int64(rollout.SlotTail) << slotBits
)

// turns is a session indexed for variants that go through its requests.
type turns struct {
	replay.View
	calls    [][]int         // by request: calls its response made, inherited ones apart
	spans    [][]int         // by item: its spans, in order of chain and first request
	answered [][]int         // by chain: counting answered requests, in order
	last     []int           // by chain: number of the last request
	index    map[placing]int // request with a number on a chain
}

// placing is a request number of a chain.
type placing struct{ chain, number int }

func newTurns(v replay.View) *turns {
	s := v.Session
	w := &turns{View: v, calls: make([][]int, len(s.Requests)), spans: make([][]int, len(s.Items)), index: map[placing]int{}}
	for i, c := range s.Calls {
		if c.Request >= 0 && !c.Inherited {
			w.calls[c.Request] = append(w.calls[c.Request], i)
		}
	}
	for i, sp := range s.Spans {
		w.spans[sp.Item] = append(w.spans[sp.Item], i)
	}
	for i, r := range s.Requests {
		for len(w.answered) <= r.Chain {
			w.answered, w.last = append(w.answered, nil), append(w.last, 0)
		}
		w.last[r.Chain] = r.Number
		w.index[placing{r.Chain, r.Number}] = i
		if r.Status == rollout.Answered && !r.Inherited {
			w.answered[r.Chain] = append(w.answered[r.Chain], i)
		}
	}
	return w
}

// recorded is the text an item had first, "" for none.
func (w *turns) recorded(item int) string {
	if item < 0 {
		return ""
	}
	return w.Session.Texts[w.Session.Items[item].Text].S
}

// drop takes an item out of every request that carries it.
func (w *turns) drop(plan *replay.Plan, item int, e replay.Edit) {
	if item < 0 {
		return
	}
	for _, span := range w.spans[item] {
		if w.Dropped(span) {
			continue
		}
		e.Span, e.From, e.Text, e.Drop = span, w.Session.Spans[span].First, "", true
		plan.Edits = append(plan.Edits, e)
	}
}

// size is the raw size of an item, 0 where it is unknown.
func (w *turns) size(item int) int64 {
	if item < 0 {
		return 0
	}
	return known(w.Sizes.Items[item].Tokens)
}

// provider is what the provider of a request counts for raw tokens of a kind.
func (w *turns) provider(request int, kind rollout.ItemKind, raw int64) float64 {
	return factorOf(w.Sizes, w.Session.Requests[request].Model, kind) * float64(raw)
}

// factorOf is the factor of a model and kind in the fit over all requests; 1
// without a calibration.
func factorOf(m *measure.Measured, model string, kind rollout.ItemKind) float64 {
	factor := 1.0
	for _, c := range m.Calibration {
		if c.Fit != measure.FitAll || c.Model != model {
			continue
		}
		if c.Kind == kind {
			return c.Factor
		}
		if c.Kind == "" {
			factor = c.Factor
		}
	}
	return factor
}

var (
	argumentName = regexp.MustCompile(`"[A-Za-z_]+"\s*:`)
	argumentWord = regexp.MustCompile(`[A-Za-z0-9_./-]+`)
)

// dependsOn says whether a call seems to rest on an earlier result: a word of at
// least so many characters in its arguments stands in that result and not in the
// arguments of the earlier call. It errs both ways: a shorter name learnt from the
// result is missed, a common word in a long result looks like one.
func dependsOn(args, earlierArgs, result string, chars int) bool {
	if result == "" {
		return false
	}
	for _, word := range argumentWord.FindAllString(argumentName.ReplaceAllString(args, " "), -1) {
		if len(word) >= chars && !strings.Contains(earlierArgs, word) && strings.Contains(result, word) {
			return true
		}
	}
	return false
}

func round(x float64) int64 { return int64(math.Round(x)) }

func known(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
