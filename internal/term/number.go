package term

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Unknown is shown where a value is not known. It is never shown for 0.
const Unknown = "–"

// Opt formats a value that may be unknown.
func Opt[T any](v *T, format func(T) string) string {
	if v == nil {
		return Unknown
	}
	return format(*v)
}

// Exact is n with thousands separators: 58,717,238.
func Exact(n int64) string { return humanize.Comma(n) }

// Short is n in three digits and a unit: 812, 41.2K, 7.39M, 58.7M, 1.02B.
func Short(n int64) string {
	if n < 0 {
		return "-" + shortAbs(-float64(n))
	}
	return shortAbs(float64(n))
}

func shortAbs(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	const units = "KMBTQE"
	for i := range len(units) {
		v /= 1000
		if v < 999.5 || i == len(units)-1 {
			return threeDigits(v) + units[i:i+1]
		}
	}
	return ""
}

// threeDigits rounds v, below 1000, to three significant digits.
func threeDigits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Percent is a share from 0 to 1 as 40.8 %. What is not 0 is never shown as 0,
// and what is not all never as 100.
func Percent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 0.05:
		return "<0.1 %"
	case p < 100 && p >= 99.95:
		return ">99.9 %"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
}

// USD is an amount of money: $12.34, $0.0042 below one cent, $1,234.56.
func USD(v float64) string {
	switch {
	case v < 0:
		return "-" + USD(-v)
	case v == 0:
		return "$0.00"
	case v < 0.0001:
		return "<$0.0001"
	case v < 0.01:
		return "$" + strconv.FormatFloat(v, 'f', 4, 64)
	}
	cents := int64(math.Round(v * 100))
	return "$" + Exact(cents/100) + "." + twoDigits(cents%100)
}

func twoDigits(n int64) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", 2-len(s)) + s
}

// Count is n with the right form of its noun: "1 request", "1,204 requests".
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Exact(n) + " " + many
}
