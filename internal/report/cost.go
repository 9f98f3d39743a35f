package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/term"
)

// costNote says where a cost comes from, or why there is none or only a part.
func costNote(a *analyze.Audit) string {
	var without int64
	for _, c := range a.CostBasis {
		if !costed(c) {
			without += c.Requests
		}
	}
	switch {
	case a.Totals.CostUSD == nil && len(a.CostBasis) == 0:
		return "unknown: no request was answered"
	case a.Totals.CostUSD == nil:
		return "unknown: " + unpriced(a)
	case without > 0:
		return fmt.Sprintf("partial, without %s: %s · %s", term.Count(without, "request", "requests"), unpriced(a), costSource(a))
	}
	return costSource(a)
}

// costed says whether requests have a cost: computed, or stated by the log.
func costed(c analyze.CostBasis) bool { return c.Basis == "priced" || c.Basis == "logged" }

// costSource tells a cost that is computed from one that logs state.
func costSource(a *analyze.Audit) string {
	logged := a.Totals.LoggedCostUSD
	switch {
	case logged == nil:
		return priceSource(a) + " · estimated"
	case *logged == *a.Totals.CostUSD:
		return "as the log states it · measured"
	}
	return fmt.Sprintf("%s as the log states it · measured; the rest %s · estimated", term.USD(*logged), priceSource(a))
}

// unpriced lists why requests have no cost, the most frequent reason first.
func unpriced(a *analyze.Audit) string {
	reasons := map[string]int64{}
	for _, c := range a.CostBasis {
		if !costed(c) {
			reasons[unpricedReason(c)] += c.Requests
		}
	}
	list := make([]string, 0, len(reasons))
	for reason := range reasons {
		list = append(list, reason)
	}
	slices.SortFunc(list, func(x, y string) int {
		if reasons[x] != reasons[y] {
			return int(sign(reasons[y] - reasons[x]))
		}
		return strings.Compare(x, y)
	})
	if len(list) == 1 {
		return list[0]
	}
	for i, reason := range list {
		list[i] = fmt.Sprintf("%s (%s)", reason, term.Exact(reasons[reason]))
	}
	return strings.Join(list, ", ")
}

func unpricedReason(c analyze.CostBasis) string {
	switch {
	case c.Basis == "subscription":
		return "paid by subscription"
	case c.Basis == "no-usage":
		return "usage not logged"
	case c.Model == nil:
		return "model not logged"
	case !plainName.MatchString(*c.Model):
		return "no price for the model"
	}
	return "no price for model " + *c.Model
}

// plainName is a model name that can stand in a sentence of fclog's own.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,60}$`)

// ownPath is the path of a user's file as it can stand in a sentence: one that
// could be anything but a path there is not named.
func ownPath(path string) string {
	if !plainPath.MatchString(path) || strings.Contains(path, "://") || strings.Contains(path, "www.") {
		return "your price file"
	}
	return path
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/\\: ~+-]{1,200}$`)

// priceSource names the price list and the user's files that override it, as far
// as they were used.
func priceSource(a *analyze.Audit) string {
	var dates, files []string
	listed := false
	for _, c := range a.CostBasis {
		switch {
		case c.Basis != "priced":
		case c.PriceFile != nil:
			files = addNew(files, ownPath(*c.PriceFile))
		default:
			listed = true
			dates = addNew(dates, deref(c.PriceDate))
		}
	}
	from := "list prices"
	if len(dates) > 0 {
		slices.Sort(dates)
		from += " of " + dates[0]
		if last := dates[len(dates)-1]; last != dates[0] {
			from += " to " + last
		}
	}
	switch {
	case len(files) == 0:
		return from
	case !listed:
		return "prices from " + strings.Join(files, ", ")
	}
	return from + ", with overrides from " + strings.Join(files, ", ")
}
