package rollout

import "slices"

// Whole is what stands for the usage of a session as a whole: what its log reports,
// where no request of its own has an input; nil otherwise, and where requests have
// outputs but the report has no input. A row of all models together goes before rows
// by model. Outputs are those of the requests all the same where OutputsKnown.
func (s *Session) Whole() []Reported {
	hasInput := func(r Request) bool { return !r.Inherited && r.Usage.Input != nil }
	if len(s.Reported) == 0 || slices.ContainsFunc(s.Requests, hasInput) {
		return nil
	}
	chosen := s.chosenReports()
	hasOutput := func(r Request) bool { return !r.Inherited && r.Usage.Output != nil }
	tellsInput := func(r Reported) bool { return r.Usage.Input != nil }
	if slices.ContainsFunc(s.Requests, hasOutput) && !slices.ContainsFunc(chosen, tellsInput) {
		return nil
	}
	return chosen
}

// OutputsKnown says whether every answered request of a session's own has an output.
func (s *Session) OutputsKnown() bool {
	own := 0
	for _, r := range s.Requests {
		if r.Inherited || r.Status != Answered {
			continue
		}
		if r.Usage.Output == nil {
			return false
		}
		own++
	}
	return own > 0
}

func (s *Session) chosenReports() []Reported {
	if all := slices.IndexFunc(s.Reported, func(r Reported) bool { return r.Model == "" }); all >= 0 {
		return slices.DeleteFunc(slices.Clone(s.Reported), func(r Reported) bool { return r.Model != "" })
	}
	return s.Reported
}

// OnlyModel is the provider and model of a session's own requests; "" where they
// differ, are unknown, or where some were paid by subscription.
func (s *Session) OnlyModel() (provider, model string) {
	for _, r := range s.Requests {
		switch {
		case r.Inherited || r.Model == "":
		case r.Subscription || model != "" && (r.Model != model || r.Provider != provider):
			return "", ""
		default:
			provider, model = r.Provider, r.Model
		}
	}
	return provider, model
}
