package measure

import (
	"math"

	"github.com/fclog/fclog/rollout"
)

// sizeReasoning gives the reasoning items that have no words their size: what the
// response's usage leaves for them, split evenly, as raw tokens. Where usage does
// not tell either, their size stays unknown.
func sizeReasoning(s *rollout.Session, m *Measured) {
	sizeless := map[int][]int{}
	visible := make([]float64, len(s.Requests))  // provider tokens of all output with words
	readable := make([]float64, len(s.Requests)) // of the reasoning among it
	fits := fitsOf(m.Calibration, FitAll)
	for i, it := range s.Items {
		if it.Request < 0 {
			continue
		}
		if m.Items[i].Tokens == nil && it.Kind == rollout.Reasoning {
			sizeless[it.Request] = append(sizeless[it.Request], i)
			continue
		}
		n := fits[s.Requests[it.Request].Model].factor(it.Kind) * float64(value(m.Items[i].Tokens))
		visible[it.Request] += n
		if it.Kind == rollout.Reasoning {
			readable[it.Request] += n
		}
	}
	for request, items := range sizeless {
		r := s.Requests[request]
		var hidden float64
		switch {
		case r.Usage.Reasoning != nil:
			hidden = float64(*r.Usage.Reasoning) - readable[request]
		case r.Usage.Output != nil && r.OutputFinal:
			hidden = float64(*r.Usage.Output) - visible[request]
		default:
			continue
		}
		share(m, items, int64(math.Round(max(hidden, 0)/fits[r.Model].factor(rollout.Reasoning))))
	}
	for i, sp := range s.Spans {
		it := s.Items[sp.Item]
		if m.Spans[i].Tokens == nil && it.Kind == rollout.Reasoning && sp.Text == it.Text {
			m.Spans[i].Tokens = m.Items[sp.Item].Tokens
		}
	}
}

// share splits n evenly over items; the first ones take what is left over.
func share(m *Measured, items []int, n int64) {
	each, more := n/int64(len(items)), n%int64(len(items))
	for k, item := range items {
		size := each
		if int64(k) < more {
			size++
		}
		m.Items[item].Tokens = &size
	}
}
