package replay

// Verdicts of an estimate.
const (
	FreeByRule    = "free by rule"    // saves by the harness alone, and nothing was cut that the model could miss
	WorthAB       = "worth an A/B"    // saves more than noise, and more than detours may cost at the high end of their range
	BelowTheNoise = "below the noise" // too little for an A/B to see
	Risky         = "risky"           // dearer, or detours may eat the saving, or hardly any text is left
)

// noiseShare is the share of the recorded input below which a saving drowns: two
// runs of the same suite differ by a log ratio with a standard deviation of about
// 0.185 (FreeCode's published A/A runs), so that 2 % take some 670 paired runs to
// see: (1.96 + 0.84)² × 0.185² / 0.02².
const noiseShare = 0.02

// verdict judges an estimate by the low end of its saving and the high end of its
// detours:
//
//	static saving unknown                             no verdict
//	costs more USD, or more tokens by over the noise  risky
//	takes away 90 % of all counted text or more       risky
//	free, and something saved, in tokens or USD       free by rule
//	saving below the noise, in tokens and USD         below the noise
//	detours at their high end reach a break-even      risky
//	otherwise                                         worth an A/B
//
// free says that nothing was cut that the model could miss, and that it need not
// act otherwise than it did. empty says that nearly all text goes: no session could
// have run like that, so its saving is no promise, however large it looks.
func verdict(e Estimate, free, empty bool) string {
	if e.StaticSavingShare == nil {
		return ""
	}
	saved, usd := *e.StaticSavingTokens, usdShare(e)
	switch {
	case usd < 0 && saved > 0, *e.StaticSavingShare < -noiseShare, empty:
		return Risky
	case free && (saved > 0 || saved == 0 && usd > 0):
		return FreeByRule
	case max(*e.StaticSavingShare, usd) < noiseShare:
		return BelowTheNoise
	case eaten(e):
		return Risky
	}
	return WorthAB
}

// usdShare is the static saving in USD as a share of the recorded cost; 0 where
// either is unknown.
func usdShare(e Estimate) float64 {
	if e.StaticSavingUSD == nil || e.CostUSD == nil || *e.CostUSD+*e.StaticSavingUSD <= 0 {
		return 0
	}
	return *e.StaticSavingUSD / (*e.CostUSD + *e.StaticSavingUSD)
}

// eaten says whether detours may reach a break-even: an interval that crosses it
// does not tell on which side they come to lie.
func eaten(e Estimate) bool {
	if e.Detours == nil {
		return false
	}
	for _, limit := range []*float64{e.BreakEvenRequestsTokens, e.BreakEvenRequestsUSD} {
		if limit != nil && max(e.Detours.Expected, e.Detours.High) >= *limit {
			return true
		}
	}
	return false
}
