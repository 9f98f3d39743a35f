package variants

import (
	"github.com/fclog/fclog/replay"
)

// maskStub stands where an old observation stood.
const maskStub = "[old tool result left out to save context; call the tool again to see it]"

// Mask is observation masking: only the newest tool results stay.
func Mask() replay.Variant {
	return checked(replay.Variant{
		Name:  "mask",
		Title: "only the newest tool results stay, older ones become a stub",
		Doc: "Before each request, all tool results but the newest ones are replaced by a short stub. A result is never masked in the first request that carries it, nor one that is less than 20 tokens longer than its stub. " +
			"Text that was already sent changes, so the cached prefix ends there and what follows is paid for at the write or full price: fewer tokens can cost more. " +
			"A larger batch masks less often.",
		Options: []replay.Option{
			whole("keep", 10, 0, "newest tool results that stay"),
			whole("batch", 1, 1, "wait until so many can be masked at once"),
		},
		Needs: []string{"text of tool results"},
		Plan:  planMask,
	})
}

func planMask(v replay.View, values replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	keep, batch := number(values, "keep"), number(values, "batch")
	stubs := newStubber(v, maskStub, "old-result")
	masked := map[[2]int]bool{} // chain, call
	walk(v, func(k int, seen []observation) {
		r := v.Session.Requests[k]
		var again, due []observation
		for _, o := range seen[:max(len(seen)-keep, 0)] {
			switch {
			case o.call >= 0 && masked[[2]int{r.Chain, o.call}]:
				again = append(again, o)
			case !o.unseen && stubs.pending(o):
				due = append(due, o)
			}
		}
		if len(due) < batch {
			due = nil
		}
		for _, o := range append(again, due...) {
			masked[[2]int{r.Chain, o.call}] = true
			stubs.replace(o, r.Number)
		}
	})
	return stubs.plan()
}
