package measure

import "github.com/fclog/fclog/rollout"

// carrierSums holds, for each chain, the running sum over its request numbers of
// how often a request's payload is paid for in this session.
type carrierSums map[int][]int64

// carriers counts a request once, unless it is inherited, and once more for every
// request that sends its whole payload again.
func carriers(s *rollout.Session) carrierSums {
	weight := make([]int64, len(s.Requests))
	for i := len(s.Requests) - 1; i >= 0; i-- {
		r := s.Requests[i]
		if !r.Inherited {
			weight[i]++
		}
		if r.Base >= 0 {
			weight[r.Base] += weight[i]
		}
	}
	sums := carrierSums{}
	for i, r := range s.Requests {
		sum := sums[r.Chain]
		if sum == nil {
			sum = []int64{0}
		}
		sums[r.Chain] = append(sum, sum[len(sum)-1]+weight[i])
	}
	return sums
}

func (c carrierSums) between(chain, first, last int) int64 {
	sum := c[chain]
	return sum[last] - sum[first-1]
}

// perRequest adds an amount for each span to every request that carried it, by
// differences along the chains, and to every request on such a base. It never
// visits a request and a span together.
func perRequest[T int64 | float64](s *rollout.Session, amount func(span int) T) []T {
	diffs := map[int][]T{}
	for _, r := range s.Requests {
		if len(diffs[r.Chain]) < r.Number+2 {
			diffs[r.Chain] = append(diffs[r.Chain], make([]T, r.Number+2-len(diffs[r.Chain]))...)
		}
	}
	for i, sp := range s.Spans {
		n := amount(i)
		diffs[sp.Chain][sp.First] += n
		diffs[sp.Chain][sp.Last+1] -= n
	}
	out := make([]T, len(s.Requests))
	running := map[int]T{}
	for i, r := range s.Requests {
		running[r.Chain] += diffs[r.Chain][r.Number]
		out[i] = running[r.Chain]
		if r.Base >= 0 {
			out[i] += out[r.Base]
		}
	}
	return out
}
