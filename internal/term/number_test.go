package term_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/term"
)

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1.00K", 9_994: "9.99K", 9_996: "10.0K",
		41_200: "41.2K", 99_949: "99.9K", 99_951: "100K", 999_499: "999K", 999_500: "1.00M",
		7_390_000: "7.39M", 58_717_238: "58.7M", 1_020_000_000: "1.02B", -41_200: "-41.2K",
		9_223_372_036_854_775_807: "9.22E",
	} {
		assert.Equal(t, want, term.Short(n), "%d", n)
	}
	assert.Equal(t, "-9.22E", term.Short(-9_223_372_036_854_775_808))
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.0 %", 0.408: "40.8 %", 0.0004: "<0.1 %", 0.0005: "0.1 %", 1: "100.0 %",
		0.9996: ">99.9 %", 0.9994: "99.9 %", 1.5: "150.0 %", -0.119: "-11.9 %",
	} {
		assert.Equal(t, want, term.Percent(share), "%v", share)
	}
}

func TestUSD(t *testing.T) {
	for v, want := range map[float64]string{
		0: "$0.00", 0.00004: "<$0.0001", 0.0042: "$0.0042", 0.01: "$0.01", 1.005: "$1.00",
		12.34: "$12.34", 1234.5: "$1,234.50", -2.5: "-$2.50", 9.999: "$10.00",
	} {
		assert.Equal(t, want, term.USD(v), "%v", v)
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	zero := int64(0)
	assert.Equal(t, "–", term.Opt(nil, term.Short))
	assert.Equal(t, "0", term.Opt(&zero, term.Short))
	assert.Equal(t, "58,717,238", term.Exact(58_717_238))
	assert.Equal(t, "1 request", term.Count(1, "request", "requests"))
	assert.Equal(t, "1,204 requests", term.Count(1204, "request", "requests"))
}
