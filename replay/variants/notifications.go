package variants

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// pooled is how long FreeCode collects completions into one notification.
const pooled = 250 * time.Millisecond

var (
	noticeStart  = regexp.MustCompile(`^\s*<(?:task-notification|subagent_notification)>`)
	noticeTask   = regexp.MustCompile(`<task-id>\s*([^<\s]+)\s*</task-id>|"agent_id"\s*:\s*"([^"]+)"`)
	noticeStatus = regexp.MustCompile(`<status>\s*(\w+)\s*</status>`)
)

// notice is one message that tells of the end of background work.
type notice struct {
	item      int
	request   int // first that carried it
	tasks     []string
	bought    bool // it caused that request
	redundant bool // everything it tells had been read
}

// notifications counts the notifications and, if wanted, takes out what the
// redundant and the split ones caused.
func (p *inlinePlan) notifications(remove bool) {
	notices := p.notices()
	if len(notices) == 0 {
		return
	}
	free, bought, redundant := 0, 0, 0
	for _, n := range notices {
		switch {
		case n.redundant:
			redundant++
		case n.bought:
			bought++
		default:
			free++
		}
	}
	said := fmt.Sprintf("%s: %d free, %d bought, %d redundant.", times(len(notices), "notification", "notifications"), free, bought, redundant)
	if redundant > 0 && !remove {
		said += " push=remove takes redundant ones out."
	}
	p.plan.Warnings = append(p.plan.Warnings, said)
	if !remove {
		return
	}
	gone := p.dropRedundant(notices)
	p.joinBought(notices, gone)
	sortRemovals(&p.plan)
}

// notices finds the notifications in the order they were sent.
func (p *inlinePlan) notices() []notice {
	var out []notice
	begun := p.userTexts()
	for item, it := range p.Session.Items {
		if !p.isNotice(item) || len(p.spans[item]) == 0 {
			continue
		}
		sp := p.Session.Spans[p.spans[item][0]]
		request := p.index[placing{sp.Chain, sp.First}]
		if p.Session.Requests[request].Inherited || it.Request >= 0 || p.Removed(request) {
			continue
		}
		n := notice{item: item, request: request, tasks: tasksOf(p.recorded(item))}
		n.bought = !begun[placing{sp.Chain, sp.First}] && p.causes(request)
		n.redundant = p.allRead(n)
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b notice) int { return a.request - b.request })
	return out
}

func (p *inlinePlan) isNotice(item int) bool {
	it := p.Session.Items[item]
	if it.Kind != rollout.Reminder && it.Kind != rollout.UserText {
		return false
	}
	return it.Label == "task_notification" || noticeStart.MatchString(p.recorded(item))
}

// userTexts marks the requests that are the first to carry something a person wrote.
func (p *inlinePlan) userTexts() map[placing]bool {
	out := map[placing]bool{}
	for item, it := range p.Session.Items {
		if it.Kind == rollout.UserText && !p.isNotice(item) && len(p.spans[item]) > 0 {
			sp := p.Session.Spans[p.spans[item][0]]
			out[placing{sp.Chain, sp.First}] = true
		}
	}
	return out
}

// causes says whether a request would not have been made but for what it was
// first to carry: the response before it asked for nothing.
func (p *inlinePlan) causes(request int) bool {
	r := p.Session.Requests[request]
	for number := r.Number - 1; number > 0; number-- {
		before := p.index[placing{r.Chain, number}]
		if b := p.Session.Requests[before]; b.Status == rollout.Answered {
			return len(p.calls[before]) == 0 || b.Run != r.Run
		}
	}
	return true
}

// tasksOf lists the tasks a notification says have ended; nil where it tells of
// anything else.
func tasksOf(text string) []string {
	var tasks []string
	for i, part := range strings.Split(text, "<task-notification>") {
		if i == 0 && strings.TrimSpace(part) == "" {
			continue
		}
		m := noticeTask.FindStringSubmatch(part)
		status := noticeStatus.FindStringSubmatch(part)
		if m == nil || status == nil || status[1] == "event" || status[1] == "running" {
			return nil
		}
		tasks = append(tasks, m[1]+m[2])
	}
	return tasks
}

// allRead says whether the model had read the end of every task before.
func (p *inlinePlan) allRead(n notice) bool {
	for _, task := range n.tasks {
		read := slices.ContainsFunc(p.later["task "+task], func(c int) bool {
			call := p.Session.Calls[c]
			return call.Poll == rollout.PollFinal && call.Request >= 0 && call.Request < n.request
		})
		if !read {
			return false
		}
	}
	return len(n.tasks) > 0
}

// dropRedundant takes redundant notifications out, with the request and the answer
// they bought where that answer asked for nothing. A request that went on to work
// stays, and with it its notification. It returns the removed requests.
func (p *inlinePlan) dropRedundant(notices []notice) map[int]bool {
	gone := map[int]bool{}
	useful := map[int]bool{}
	for _, n := range notices {
		useful[n.request] = useful[n.request] || !n.redundant
	}
	for _, n := range notices {
		if !n.redundant {
			continue
		}
		if n.bought {
			if useful[n.request] || len(p.calls[n.request]) > 0 || p.Session.Requests[n.request].Status != rollout.Answered {
				continue
			}
			p.removeAnswer(n.request, gone)
		}
		p.drop(&p.plan, n.item, replay.Edit{Call: -1, Why: "notification-redundant"})
	}
	return gone
}

// removeAnswer takes a request out together with what its response said.
func (p *inlinePlan) removeAnswer(request int, gone map[int]bool) {
	if gone[request] {
		return
	}
	gone[request] = true
	p.plan.Removals = append(p.plan.Removals, replay.Removal{Request: request, Certain: true, Why: "notification-redundant"})
	for item, it := range p.Session.Items {
		if it.Request == request {
			p.drop(&p.plan, item, replay.Edit{Call: -1, Why: "notification-redundant"})
		}
	}
}

// joinBought makes one request of bought ones that follow each other within the
// time in which completions are pooled: sent so shortly after the one before, or
// after its response had ended, that the notification had been waiting. The later
// request carries both notifications, so the earlier one goes; its answer is
// still given.
func (p *inlinePlan) joinBought(notices []notice, gone map[int]bool) {
	bought := map[int]bool{}
	for _, n := range notices {
		if n.bought && !n.redundant && !gone[n.request] {
			bought[n.request] = true
		}
	}
	for _, chain := range p.answered {
		for k := 1; k < len(chain); k++ {
			a, b := chain[k-1], chain[k]
			if bought[a] && bought[b] && len(p.calls[a]) == 0 && p.waiting(a, b) {
				p.plan.Removals = append(p.plan.Removals, replay.Removal{
					Request: a, Certain: true, Moved: known(p.Session.Requests[a].Usage.Output), Why: "notifications-pooled",
				})
			}
		}
	}
}

func (p *inlinePlan) waiting(a, b int) bool {
	first, second := p.Session.Requests[a], p.Session.Requests[b]
	if first.Time.IsZero() || second.Time.IsZero() {
		return false
	}
	if second.Time.Sub(first.Time) <= pooled {
		return true
	}
	return first.DurationMS != nil && second.Time.Sub(first.Time)-time.Duration(*first.DurationMS)*time.Millisecond <= pooled
}
