package detour

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestBetaKnownValues(t *testing.T) {
	for _, x := range []float64{0, 0.01, 0.3, 0.5, 0.77, 0.999, 1} {
		assert.InDelta(t, x, betaCDF(1, 1, x), 1e-12)                                  // uniform
		assert.InDelta(t, x*x*x, betaCDF(3, 1, x), 1e-12)                              // x^a
		assert.InDelta(t, 1-math.Pow(1-x, 7), betaCDF(1, 7, x), 1e-12)                 // 1-(1-x)^b
		assert.InDelta(t, 2/math.Pi*math.Asin(math.Sqrt(x)), betaCDF(.5, .5, x), 1e-9) // arcsine law
		assert.InDelta(t, 6*x*x-8*x*x*x+3*x*x*x*x, betaCDF(2, 3, x), 1e-12)            // ∫ 12 t(1-t)²
	}
	assert.InDelta(t, 0.5, betaQuantile(4, 4, 0.5), 1e-12)
	assert.InDelta(t, 1-math.Pow(0.025, 1.0/10), 1-betaQuantile(10, 1, 0.025), 1e-9) // x^10 = 0.025
}

// For whole numbers I_x(a, b) is the chance of at least a successes in a+b-1 trials.
func TestBetaIsTheBinomialTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(1, 40).Draw(t, "a"), rapid.IntRange(1, 40).Draw(t, "b")
		x := rapid.Float64Range(0.001, 0.999).Draw(t, "x")
		n := a + b - 1
		tail := 0.0
		for k := a; k <= n; k++ {
			ln, _ := math.Lgamma(float64(n + 1))
			lk, _ := math.Lgamma(float64(k + 1))
			lr, _ := math.Lgamma(float64(n - k + 1))
			tail += math.Exp(ln - lk - lr + float64(k)*math.Log(x) + float64(n-k)*math.Log1p(-x))
		}
		assert.InDelta(t, tail, betaCDF(float64(a), float64(b), x), 1e-9)
	})
}

func TestBetaQuantileInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0.5, 300).Draw(t, "a"), rapid.Float64Range(0.5, 300).Draw(t, "b")
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		assert.InDelta(t, p, betaCDF(a, b, betaQuantile(a, b, p)), 1e-6)
	})
}
