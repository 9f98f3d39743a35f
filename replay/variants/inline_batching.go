package variants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// pushRemove is the value of the option push under which notifications that
// bring nothing new are taken out.
const pushRemove = "remove"

// InlineBatching takes out the model calls that only ask for the state of
// background work: results ride in the next call that happens anyway.
func InlineBatching() replay.Variant {
	return checked(replay.Variant{
		Name:  "inline-batching",
		Title: "background results ride in the next call instead of being polled for",
		Doc: "An episode is a chain of n responses of one run in which every call only asked for the state of background work: polls, " +
			"reads of a task's output file, commands that sleep and look. n-1 of its requests go for certain, the last one " +
			"possibly, where a later response of the run had work to do that did not rest on the result; otherwise the model would have ended its turn once. " +
			"Certain are only requests that asked about work of which the log shows the end, and that it ended by itself: what was stopped, given input, " +
			"or never seen to end has no completion that could ride in a later call, so its polls count at the high end only. " +
			"The removed polls and what came back empty or in progress leave later requests, a final result stays. " +
			"The words around a poll stay. Notifications are free where they rode in a request that happened anyway, bought where they caused one, " +
			"redundant where the result had been read already.",
		Options: []replay.Option{choice("push",
			"remove: redundant notifications and the answers they bought go, bought ones within 250 ms of each other are one; count: they are only counted",
			pushRemove, "count")},
		Needs: []string{"which response made which call"},
		Plan:  planInlineBatching,
	})
}

func planInlineBatching(v replay.View, values replay.Values) replay.Plan {
	p := &inlinePlan{turns: newTurns(v), found: map[rollout.PollClass]int{}, later: map[string][]int{}}
	if len(p.Session.Calls) > 0 && !slices.ContainsFunc(p.Session.Calls, func(c rollout.Call) bool { return c.Request >= 0 }) {
		return replay.Plan{Unsupported: "the log does not say which response made which call"}
	}
	p.indexPolls()
	p.findEnds()
	p.spoken = p.userTexts()
	for _, e := range p.episodes() {
		p.removeEpisode(e)
	}
	p.sayPolls()
	p.notifications(values["push"] == pushRemove)
	return p.plan
}

// inlinePlan is an inline-batching plan under way.
type inlinePlan struct {
	*turns
	plan     replay.Plan
	found    map[rollout.PollClass]int // polling responses of episodes, by what they brought
	count    int                       // episodes
	possible int                       // removals that are not certain
	endless  int                       // polling responses without an end that could have been delivered
	later    map[string][]int          // polls of the session, by what they ask about
	ended    map[int]bool              // polls of a task that ended by itself, with nothing done to it in between
	spoken   map[placing]bool          // requests that are the first to carry something a person wrote
}

// indexPolls groups the polls by what they ask about.
func (p *inlinePlan) indexPolls() {
	for i, c := range p.Session.Calls {
		if c.Poll != rollout.NoPoll {
			key := p.subject(c)
			p.later[key] = append(p.later[key], i)
		}
	}
}

// subject is what a poll asks about: its task, else whatever its arguments say.
func (p *inlinePlan) subject(c rollout.Call) string {
	if c.Task != "" {
		return "task " + c.Task
	}
	return c.Tool + " " + p.Session.Texts[c.Args].S
}

// onlyPolls says whether a response asked for nothing but the state of background work.
func (p *inlinePlan) onlyPolls(request int) bool {
	for _, c := range p.calls[request] {
		if p.Session.Calls[c].Poll == rollout.NoPoll {
			return false
		}
	}
	return len(p.calls[request]) > 0
}

// episodes lists the maximal chains of consecutive polling responses of one run.
// A request that an earlier variant removed ends one.
func (p *inlinePlan) episodes() [][]int {
	var out [][]int
	for _, chain := range p.answered {
		var episode []int
		for _, i := range chain {
			if len(episode) > 0 && p.Session.Requests[episode[0]].Run != p.Session.Requests[i].Run || !p.onlyPolls(i) || p.Removed(i) {
				out, episode = appendFull(out, episode), nil
			}
			if p.onlyPolls(i) && !p.Removed(i) {
				episode = append(episode, i)
			}
		}
		out = appendFull(out, episode)
	}
	return out
}

func appendFull(list [][]int, one []int) [][]int {
	if len(one) == 0 {
		return list
	}
	return append(list, one)
}

// removeEpisode takes out requests of an episode with what they leave behind: for
// certain those that can be, less one, for the model would have ended its turn once.
// The last one carries most, so keeping it is the low end; it goes too where other
// work was going on. What is not certain to go leaves behind what it did in either
// case.
func (p *inlinePlan) removeEpisode(episode []int) {
	p.count++
	certain := p.certain(episode)
	last := episode[len(episode)-1]
	for k, i := range episode {
		p.found[p.brought(i)]++
		if certain[i] {
			p.plan.Removals = append(p.plan.Removals, replay.Removal{Request: i, Certain: true, Why: p.why(i)})
			for _, c := range p.calls[i] {
				p.dropPoll(c)
			}
		} else if i != last {
			if !p.delivered(episode[k:]) {
				p.endless++
			}
			p.plan.Removals = append(p.plan.Removals, replay.Removal{Request: i, Why: p.why(i)})
		}
	}
	if p.otherWork(episode) {
		p.possible++
		p.plan.Removals = append(p.plan.Removals, replay.Removal{Request: last, Why: p.why(last)})
	}
}

// certain picks the requests of an episode that go for certain: all but the last of
// those that can. A request that is the first to carry what a person wrote along the
// way would have been made in any case.
func (p *inlinePlan) certain(episode []int) map[int]bool {
	var can []int
	for k, i := range episode {
		r := p.Session.Requests[i]
		answers := k > 0 && p.spoken[placing{r.Chain, r.Number}]
		if !answers && p.delivered(episode[k:]) {
			can = append(can, i)
		}
	}
	out := map[int]bool{}
	for _, i := range can[:max(len(can)-1, 0)] {
		out[i] = true
	}
	return out
}

// delivered says whether all that the first of some polling responses asked about
// came to an end that could have been delivered. A poll that names no task, or none
// that exists, waits for whatever ended in the same episode.
func (p *inlinePlan) delivered(responses []int) bool {
	for _, c := range p.calls[responses[0]] {
		call := p.Session.Calls[c]
		nameless := call.Task == "" || call.Poll == rollout.PollLost
		if !p.ended[c] && !(nameless && p.endsIn(responses)) {
			return false
		}
	}
	return true
}

// endsIn says whether any of some polling responses brought the end of its task.
func (p *inlinePlan) endsIn(responses []int) bool {
	return slices.ContainsFunc(responses, func(i int) bool {
		return slices.ContainsFunc(p.calls[i], func(c int) bool {
			call := p.Session.Calls[c]
			return call.Poll == rollout.PollFinal && (call.Task == "" || p.ended[c])
		})
	})
}

// findEnds marks the polls of tasks that ended by themselves: a later poll brought
// the end, or a notification told it, and no call gave the task input or stopped it
// in between.
func (p *inlinePlan) findEnds() {
	p.ended = map[int]bool{}
	tasks := map[string][]int{}
	for i, c := range p.Session.Calls {
		if c.Task != "" {
			tasks[c.Task] = append(tasks[c.Task], i)
		}
	}
	told := p.toldEnds()
	for task, calls := range tasks {
		var waiting []int
		over := false
		for _, i := range calls {
			switch c := p.Session.Calls[i]; {
			case c.Poll == rollout.NoPoll:
				waiting, over = nil, false
			case over:
				p.ended[i] = true
			default:
				waiting = append(waiting, i)
				over = c.Poll == rollout.PollFinal
			}
			if over {
				p.markEnded(waiting)
				waiting = nil
			}
		}
		p.markEnded(slices.DeleteFunc(waiting, func(i int) bool { return p.Session.Calls[i].Request >= told[task] }))
	}
}

func (p *inlinePlan) markEnded(calls []int) {
	for _, i := range calls {
		p.ended[i] = true
	}
}

// toldEnds is the last request that was the first to carry a notification of the end
// of each task.
func (p *inlinePlan) toldEnds() map[string]int {
	out := map[string]int{}
	for item := range p.Session.Items {
		if !p.isNotice(item) || len(p.spans[item]) == 0 {
			continue
		}
		sp := p.Session.Spans[p.spans[item][0]]
		for _, task := range tasksOf(p.recorded(item)) {
			out[task] = max(out[task], p.index[placing{sp.Chain, sp.First}])
		}
	}
	return out
}

// pollRank orders the classes by how much they say of a response with several polls.
var pollRank = map[rollout.PollClass]int{rollout.PollFinal: 4, rollout.PollProgress: 3, rollout.PollUnknown: 2, rollout.PollEmpty: 1, rollout.PollLost: 0}

// brought is the most that any poll of a response brought back.
func (p *inlinePlan) brought(request int) rollout.PollClass {
	best := p.Session.Calls[p.calls[request][0]].Poll
	for _, c := range p.calls[request][1:] {
		if class := p.Session.Calls[c].Poll; pollRank[class] > pollRank[best] {
			best = class
		}
	}
	return best
}

func (p *inlinePlan) why(request int) string { return "poll-" + string(p.brought(request)) }

// dropPoll takes the arguments of a poll out of later requests, and its result
// unless that is what the model waited for.
func (p *inlinePlan) dropPoll(call int) {
	c := p.Session.Calls[call]
	edit := replay.Edit{Call: call, Why: "poll-" + string(c.Poll)}
	p.drop(&p.plan, c.ArgsItem, edit)
	text := p.recorded(c.ResultItem)
	switch c.Poll {
	case rollout.PollEmpty, rollout.PollLost:
		p.drop(&p.plan, c.ResultItem, edit)
	case rollout.PollProgress:
		edit.Lossy = !p.repeatedLater(call, text)
		p.drop(&p.plan, c.ResultItem, edit)
	case rollout.PollUnknown:
		empty := strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "(no output)"
		if empty || p.polledAgain(call) {
			edit.Lossy = !empty && !p.repeatedLater(call, text)
			p.drop(&p.plan, c.ResultItem, edit)
		}
	}
}

// polledAgain says whether a later poll asks about the same.
func (p *inlinePlan) polledAgain(call int) bool {
	same := p.later[p.subject(p.Session.Calls[call])]
	return len(same) > 0 && same[len(same)-1] > call
}

// repeatedLater says whether every line of a result stands again in one later
// result about the same, tags apart.
func (p *inlinePlan) repeatedLater(call int, text string) bool {
	for _, i := range p.later[p.subject(p.Session.Calls[call])] {
		if i > call && standsIn(p.recorded(p.Session.Calls[i].ResultItem), text) {
			return true
		}
	}
	return false
}

func standsIn(whole, text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		tag := strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">")
		if line != "" && !tag && !strings.Contains(whole, line) {
			return false
		}
	}
	return true
}

// dependingWord is the length of a word that ties a call to an earlier result, as
// the audit has it for serial chains.
const dependingWord = 6

// otherWork says whether a later response of the same run made a call that is no
// poll and does not seem to rest on what the episode brought.
func (p *inlinePlan) otherWork(episode []int) bool {
	last := p.Session.Requests[episode[len(episode)-1]]
	chain := p.answered[last.Chain]
	at, _ := slices.BinarySearch(chain, episode[len(episode)-1])
	for _, i := range chain[at+1:] {
		if p.Session.Requests[i].Run != last.Run {
			return false
		}
		for _, c := range p.calls[i] {
			if p.Session.Calls[c].Poll == rollout.NoPoll && !p.restsOn(c, episode) {
				return true
			}
		}
	}
	return false
}

// restsOn says whether a call seems to rest on what an episode brought: it stops or
// feeds what was asked about, or names something out of a result.
func (p *inlinePlan) restsOn(call int, episode []int) bool {
	task := p.Session.Calls[call].Task
	args := p.Session.Texts[p.Session.Calls[call].Args].S
	for _, i := range episode {
		for _, c := range p.calls[i] {
			poll := p.Session.Calls[c]
			if task != "" && task == poll.Task || dependsOn(args, p.Session.Texts[poll.Args].S, p.recorded(poll.ResultItem), dependingWord) {
				return true
			}
		}
	}
	return false
}

func (p *inlinePlan) sayPolls() {
	if p.count == 0 {
		return
	}
	total := 0
	for _, n := range p.found {
		total += n
	}
	var parts []string
	for _, class := range []rollout.PollClass{rollout.PollEmpty, rollout.PollProgress, rollout.PollFinal, rollout.PollLost, rollout.PollUnknown} {
		if n := p.found[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	text := fmt.Sprintf("%s in %s: %s.", times(total, "polling response", "polling responses"), times(p.count, "episode", "episodes"), strings.Join(parts, ", "))
	if p.possible > 0 {
		text += fmt.Sprintf(" The last of an episode goes only at the high end, in %s with other work to do.", times(p.possible, "episode", "episodes"))
	}
	if p.endless > 0 {
		text += fmt.Sprintf(" %s only at the high end: the log shows no end of what was asked about, or it was stopped or given input, so there may have been no completion to deliver.",
			times(p.endless, "polling response counts", "polling responses count"))
	}
	p.plan.Warnings = append(p.plan.Warnings, text)
}

// sortRemovals puts the removals into the order of the requests.
func sortRemovals(plan *replay.Plan) {
	slices.SortFunc(plan.Removals, func(a, b replay.Removal) int { return cmp.Compare(a.Request, b.Request) })
}
