package measure

import (
	"math"

	"github.com/fclog/fclog/rollout"
)

// sumRequests counts every request and splits its recorded input.
func sumRequests(s *rollout.Session, m *Measured) []RequestSize {
	fits := fitsOf(m.Calibration, FitAll)
	counted := perRequest(s, func(i int) int64 { return value(m.Spans[i].Tokens) })
	calibrated := calibratedSums(s, m, fits)
	messages := messageCounts(s, fits)
	out := make([]RequestSize, len(counted))
	for i, r := range s.Requests {
		out[i].Counted = counted[i]
		if r.Usage.Input == nil {
			continue
		}
		size := int64(math.Round(calibrated[i]))
		framing := int64(math.Round(fits[r.Model].framing * messages[i]))
		rest := *r.Usage.Input - size - framing
		out[i].Calibrated, out[i].Framing, out[i].Unlogged = &size, &framing, &rest
	}
	return out
}

// calibratedSums returns what the provider counts for the spans of each request:
// factor × raw tokens by kind of item, and for the items of a response that is
// taken at its reported size the difference to that size.
func calibratedSums(s *rollout.Session, m *Measured, fits fits) []float64 {
	out := make([]float64, len(s.Requests))
	for _, kind := range kindsOf(s) {
		raw := perRequest(s, func(i int) int64 {
			if s.Items[s.Spans[i].Item].Kind != kind {
				return 0
			}
			return value(m.Spans[i].Tokens)
		})
		for i, r := range s.Requests {
			out[i] += fits[r.Model].factor(kind) * float64(raw[i])
		}
	}
	excess := outputExcess(s, m, fits)
	more := perRequest(s, func(i int) float64 { return excess[s.Spans[i].Item] })
	for i := range out {
		out[i] += more[i]
	}
	return out
}

func kindsOf(s *rollout.Session) []rollout.ItemKind {
	seen := map[rollout.ItemKind]bool{}
	var kinds []rollout.ItemKind
	for _, it := range s.Items {
		if !seen[it.Kind] {
			seen[it.Kind] = true
			kinds = append(kinds, it.Kind)
		}
	}
	return kinds
}

// outputExcess returns, by item, what the provider's size of a produced item
// exceeds factor × its raw tokens by: the reported size of a response is spread
// over its items in proportion to their counts.
func outputExcess(s *rollout.Session, m *Measured, fits fits) []float64 {
	known := make([]*float64, len(s.Requests))
	sum := make([]float64, len(s.Requests))
	carried := carriedOutputs(s)
	for i, r := range s.Requests {
		if f := fits[r.Model]; f.reported {
			known[i] = carried.tokens(s, i)
		}
	}
	scaled := make([]float64, len(s.Items))
	for i, it := range s.Items {
		if it.Request >= 0 && known[it.Request] != nil {
			scaled[i] = fits[s.Requests[it.Request].Model].factor(it.Kind) * float64(value(m.Items[i].Tokens))
			sum[it.Request] += scaled[i]
		}
	}
	out := make([]float64, len(s.Items))
	for i, it := range s.Items {
		if scaled[i] > 0 {
			out[i] = scaled[i] * (*known[it.Request]/sum[it.Request] - 1)
		}
	}
	return out
}

// carriedOutputs says, by request, whether reasoning that it produced is ever
// carried, and whether anything of it is.
type carriedOutput struct{ any, reasoning bool }

type carriedOutputList []carriedOutput

func carriedOutputs(s *rollout.Session) carriedOutputList {
	out := make(carriedOutputList, len(s.Requests))
	for _, sp := range s.Spans {
		it := s.Items[sp.Item]
		if it.Request < 0 {
			continue
		}
		out[it.Request].any = true
		if it.Kind == rollout.Reasoning {
			out[it.Request].reasoning = true
		}
	}
	return out
}

// tokens returns what later requests carry of a response: its output as
// reported, less the reasoning where none of it is sent again. Nil where the
// output is not final or nothing of it is carried.
func (c carriedOutputList) tokens(s *rollout.Session, request int) *float64 {
	u := s.Requests[request].Usage
	if u.Output == nil || !s.Requests[request].OutputFinal || !c[request].any {
		return nil
	}
	n := float64(*u.Output)
	if !c[request].reasoning {
		n -= float64(value(u.Reasoning))
	}
	return &n
}

// messageCounts returns the messages of each request: as the log counts them, else
// the input items it carried, and the produced ones too where those are counted
// by their text (what the provider adds to them is inside a reported output).
func messageCounts(s *rollout.Session, fits fits) []float64 {
	inputs := perRequest(s, func(i int) int64 {
		if s.Items[s.Spans[i].Item].Request >= 0 {
			return 0
		}
		return 1
	})
	all := perRequest(s, func(i int) int64 { return 1 })
	out := make([]float64, len(s.Requests))
	for i, r := range s.Requests {
		switch {
		case r.Messages != nil:
			out[i] = float64(*r.Messages)
		case fits[r.Model].reported:
			out[i] = float64(inputs[i])
		default:
			out[i] = float64(all[i])
		}
	}
	return out
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
