package rollout

import "fmt"

// Check walks every cross reference of a session that was just read. An error
// is a fault of the reader, never of the log: the rest of fclog trusts what
// passed.
func Check(s *Session) error {
	if s.ID == "" || s.Source == "" {
		return fmt.Errorf("session of %s: no ID or source", s.File)
	}
	for _, check := range []func(*Session) error{checkRequests, checkReported, checkItems, checkSpans, checkCalls} {
		if err := check(s); err != nil {
			return fmt.Errorf("session %s of %s: %w", s.ID, s.File, err)
		}
	}
	return nil
}

func checkRequests(s *Session) error {
	next := map[int]int{}
	for i, r := range s.Requests {
		next[r.Chain]++
		switch {
		case r.Number != next[r.Chain]:
			return fmt.Errorf("request %d: number %d on chain %d, want %d", i, r.Number, r.Chain, next[r.Chain])
		case r.Base < -1 || r.Base >= i:
			return fmt.Errorf("request %d: base %d is not an earlier request", i, r.Base)
		case r.Run < 1 || r.Attempt < 1:
			return fmt.Errorf("request %d: run %d, attempt %d, both start at 1", i, r.Run, r.Attempt)
		case r.Kind == "" || r.Status == "":
			return fmt.Errorf("request %d: no kind or status", i)
		}
		if err := checkUsage(r.Usage); err != nil {
			return fmt.Errorf("request %d (line %d): %w", i, r.Line, err)
		}
		if err := checkUSD(r.LoggedUSD); err != nil {
			return fmt.Errorf("request %d (line %d): %w", i, r.Line, err)
		}
	}
	return nil
}

func checkReported(s *Session) error {
	for i, r := range s.Reported {
		if r.Requests != nil && *r.Requests < 0 {
			return fmt.Errorf("reported %d: %d requests", i, *r.Requests)
		}
		if err := checkUsage(r.Usage); err != nil {
			return fmt.Errorf("reported %d (line %d): %w", i, r.Line, err)
		}
		if err := checkUSD(r.CostUSD); err != nil {
			return fmt.Errorf("reported %d (line %d): %w", i, r.Line, err)
		}
	}
	return nil
}

// checkUSD refuses amounts that no provider bills.
func checkUSD(usd *float64) error {
	if usd != nil && !(*usd >= 0 && *usd <= MaxUSD) {
		return fmt.Errorf("cost of %g USD", *usd)
	}
	return nil
}

// checkUsage holds the identities every reader must have established: parts
// never exceed their whole.
func checkUsage(u Usage) error {
	for _, v := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning} {
		if v != nil && *v < 0 {
			return fmt.Errorf("negative usage %d", *v)
		}
	}
	if u.Input != nil && value(u.CacheRead)+value(u.CacheWrite) > *u.Input {
		return fmt.Errorf("cache read %d + write %d exceed input %d", value(u.CacheRead), value(u.CacheWrite), *u.Input)
	}
	if u.Output != nil && value(u.Reasoning) > *u.Output {
		return fmt.Errorf("reasoning %d exceeds output %d", value(u.Reasoning), *u.Output)
	}
	return nil
}

func checkItems(s *Session) error {
	for i, it := range s.Items {
		switch {
		case it.Kind == "" || it.Origin == "":
			return fmt.Errorf("item %d: no kind or origin", i)
		case it.Request < -1 || it.Request >= len(s.Requests):
			return fmt.Errorf("item %d: no request %d", i, it.Request)
		case it.Text < 0 || int(it.Text) >= len(s.Texts):
			return fmt.Errorf("item %d: no text %d", i, it.Text)
		}
	}
	return nil
}

func checkSpans(s *Session) error {
	last := map[int]int{}
	for _, r := range s.Requests {
		last[r.Chain] = max(last[r.Chain], r.Number)
	}
	for i, sp := range s.Spans {
		switch {
		case sp.Item < 0 || sp.Item >= len(s.Items):
			return fmt.Errorf("span %d: no item %d", i, sp.Item)
		case sp.Text < 0 || int(sp.Text) >= len(s.Texts):
			return fmt.Errorf("span %d: no text %d", i, sp.Text)
		case sp.First < 1 || sp.Last < sp.First || sp.Last > last[sp.Chain]:
			return fmt.Errorf("span %d: requests %d to %d of %d on chain %d", i, sp.First, sp.Last, last[sp.Chain], sp.Chain)
		}
	}
	return nil
}

func checkCalls(s *Session) error {
	seen := map[string]bool{}
	for i, c := range s.Calls {
		switch {
		case c.ID == "" || seen[c.ID]:
			return fmt.Errorf("call %d: ID %q empty or used twice", i, c.ID)
		case c.Class == "":
			return fmt.Errorf("call %d: no class", i)
		case c.Request < -1 || c.Request >= len(s.Requests):
			return fmt.Errorf("call %d: no request %d", i, c.Request)
		case c.ArgsItem < -1 || c.ArgsItem >= len(s.Items) || c.ResultItem < -1 || c.ResultItem >= len(s.Items):
			return fmt.Errorf("call %d: no item %d or %d", i, c.ArgsItem, c.ResultItem)
		case c.Args < 0 || int(c.Args) >= len(s.Texts):
			return fmt.Errorf("call %d: no text %d", i, c.Args)
		case c.Full != nil && (*c.Full < 0 || int(*c.Full) >= len(s.Texts) || s.Texts[*c.Full].Opaque):
			return fmt.Errorf("call %d: no whole output %d with words", i, *c.Full)
		}
		seen[c.ID] = true
	}
	return nil
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}
