package compare

import "fmt"

// SignedPercent writes a change in percent with one decimal; what rounds to none has
// no sign.
func SignedPercent(p float64) string {
	s := fmt.Sprintf("%+.1f", p)
	if s == "+0.0" || s == "-0.0" {
		s = "0.0"
	}
	return s + " %"
}

// Range writes the two ends of a range, or the one number that both are.
func Range(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}
