package rollout

import "slices"

// Whole is what stands for the usage of a session as a whole: what its log reports,
// where no request of its own has any usage; nil otherwise. A row of all models
// together goes before rows by model.
func (s *Session) Whole() []Reported {
	hasUsage := func(r Request) bool { return !r.Inherited && (r.Usage.Input != nil || r.Usage.Output != nil) }
	if len(s.Reported) == 0 || slices.ContainsFunc(s.Requests, hasUsage) {
		return nil
	}
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
