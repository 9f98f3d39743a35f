package report

import (
	"fmt"

	"github.com/fclog/fclog/internal/term"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/replay/fleet"
)

// fleetSections are what many sessions say beside their sums; none for a handful.
func fleetSections(r *Replay, o ReplayOptions) []section {
	if r.Fleet == nil {
		return nil
	}
	out := []section{fleetTable(r.Fleet)}
	for i, v := range r.Fleet.Variants {
		if e := r.Report.Variants[i]; e.Unsupported != nil || e.Idle() {
			continue
		}
		title := v.Variant
		if !plainVariant.MatchString(title) {
			title = fmt.Sprintf("Variant %d", i+1)
		}
		if s := strataSection(title, v, o); s != nil {
			out = append(out, *s)
		}
		out = append(out, extremeSections(title, v, o)...)
	}
	return out
}

// fleetTable says of each variant how sure its share is and how sessions differ.
func fleetTable(f *fleet.Report) section {
	s := section{title: "Over the fleet", table: &table{noteHead: "remark", columns: []column{
		{title: "variant", flex: true, min: 16}, {title: "share", number: true}, {title: "95 % interval", number: true},
		{title: "win", number: true}, {title: "lose", number: true}, {title: "same", number: true},
		{title: "median", number: true, optional: 1}, {title: "90 in 100", number: true, optional: 2}, {title: "top tenth", number: true, optional: 3},
	}}}
	for _, v := range f.Variants {
		r := row{cells: []cell{
			logged(v.Variant), shareIn(v.Share), rangeIn(v.Share), ofAll(v.Winners, v.Known), ofAll(v.Losers, v.Known), ofAll(v.Unchanged, v.Known),
			quantileOf(v.Shares, func(d *fleet.Distribution) float64 { return d.Median }), quantileOf(v.Shares, func(d *fleet.Distribution) float64 { return d.P90 }),
			share(v.TopShare),
		}}
		r.notes = fleetNotes(v)
		s.table.rows = append(s.table.rows, r)
	}
	s.after = []string{"**Share** is all that is saved of all recorded input, estimated. The **interval** is of that share for sessions like these: " + f.Method + "; drawn are " + f.Clusters +
		". **Win**, **lose** and **same** are sessions: a session loses that comes out dearer in tokens or USD. **Median** and **90 in 100** are the shares that single sessions save, each session the same weight: half of them, and nine in ten, save no more. **Top tenth** is how much of all savings the tenth of sessions brings that saves most."}
	if f.Sessions < f.Population {
		s.after = append(s.after, fmt.Sprintf("These are **%s of %s sessions**, drawn by a hash of their IDs. Below each variant stands where the share of all %s lies, with 95 %%: the interval, less what the sample knows of them.",
			term.Exact(f.Sessions), term.Exact(f.Population), term.Exact(f.Population)))
	}
	if l := f.Learnt; l != nil {
		s.after = append(s.after, fmt.Sprintf("Base rates of detours are multiplied by **%.2f**, as %s in this dataset found: they count as %.0f cases. --no-learn leaves that out.",
			l.Factor, term.Count(int64(l.Outcomes), "past A/B", "past A/Bs"), l.Weight))
	}
	s.after = append(s.after, "Sessions are replayed one by one, with the cache parameters that providers publish, and what was used later is set against earlier requests of the same session.")
	return s
}

func fleetNotes(v fleet.Variant) []string {
	var notes []string
	if v.Sample != nil && !v.Sample.Open() && !v.Sample.Alike() {
		notes = append(notes, ofTheWhole(v.Sample))
	}
	switch {
	case v.Share != nil && v.Share.Open():
		notes = append(notes, fmt.Sprintf("no interval: %d clusters weigh as much as %.1f of equal size", v.Share.Clusters, v.Share.Effective))
	case v.Share != nil && v.Share.Thin() && v.Share.Error > 0:
		notes = append(notes, fmt.Sprintf("%d clusters weigh as much as %.1f of equal size: the interval may be too narrow", v.Share.Clusters, v.Share.Effective))
	}
	if v.Share != nil && v.Share.Alike() {
		notes = append(notes, fmt.Sprintf("no interval: all %d clusters show the same share, which tells nothing of others", v.Share.Clusters))
	}
	if v.Share == nil {
		notes = append(notes, "no interval: fewer than two clusters with usage")
	}
	return notes
}

// ofTheWhole bounds the share of all sessions that a sample was drawn from.
func ofTheWhole(i *fleet.Interval) string {
	return "all sessions: " + compare.Range(term.Percent(i.Low), term.Percent(i.High))
}

func shareIn(i *fleet.Interval) cell {
	if i == nil {
		return plain(term.Unknown)
	}
	return plain(term.Percent(i.Ratio))
}

func rangeIn(i *fleet.Interval) cell {
	if i == nil || i.Open() || i.Alike() {
		return plain(term.Unknown)
	}
	return plain(compare.Range(term.Percent(i.Low), term.Percent(i.High)))
}

// ofAll is a number of sessions as a share of those that are known.
func ofAll(n, all int64) cell {
	if all == 0 {
		return plain(term.Unknown)
	}
	return plain(term.Percent(float64(n) / float64(all)))
}

func quantileOf(d *fleet.Distribution, of func(*fleet.Distribution) float64) cell {
	if d == nil {
		return plain(term.Unknown)
	}
	return plain(term.Percent(of(d)))
}

// strataSection divides the saving of a variant; versions and tasks only with
// ReplayOptions.Details.
func strataSection(title string, v fleet.Variant, o ReplayOptions) *section {
	t := &table{columns: []column{
		{title: "by"}, {title: "value", flex: true, min: 12}, {title: "sessions", number: true}, {title: "input", number: true},
		{title: "saved", number: true}, {title: "share", number: true}, {title: "95 % interval", number: true, optional: 1}, {title: "lose", number: true, optional: 2},
	}}
	for _, s := range v.Strata {
		if !o.Details && (s.By == "version" || s.By == "task") {
			continue
		}
		t.rows = append(t.rows, row{cells: []cell{
			plain(s.By), logged(s.Value), number(s.Sessions), number(s.Input), number(s.Saving), share(&s.Share), rangeIn(s.Interval), number(s.Losers),
		}})
	}
	if len(t.rows) == 0 {
		return nil
	}
	return &section{title: title + ", by kind of session", table: t}
}

// extremeSections name the sessions that carry most of a saving and those that lose.
func extremeSections(title string, v fleet.Variant, o ReplayOptions) []section {
	var out []section
	for _, part := range []struct {
		title string
		list  []fleet.SessionShare
	}{{title + ", what carries most of the saving", v.Most}, {title + ", what would lose", v.Worst}} {
		if len(part.list) == 0 {
			continue
		}
		t := &table{columns: []column{
			{title: "session", flex: true, min: 12}, {title: "requests", number: true}, {title: "input", number: true}, {title: "saved", number: true},
			{title: "USD saved", number: true}, {title: "of all input", number: true, optional: 1},
		}}
		shown := part.list
		if !o.Details {
			shown = shown[:min(fewContributions, len(shown))]
		}
		for _, s := range shown {
			t.rows = append(t.rows, row{cells: []cell{
				logged(s.SessionID), number(s.Requests), number(s.Input), number(s.Saving), plain(term.Opt(s.SavingUSD, dearer)), share(&s.OfAll),
			}})
		}
		t.more = more(len(part.list)-len(shown), "session", "sessions")
		out = append(out, section{title: part.title, table: t})
	}
	return out
}
