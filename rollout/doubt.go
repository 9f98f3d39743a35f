package rollout

import (
	"fmt"
	"slices"
	"time"
)

const (
	// manyRecords are more than an agent writes before its first request.
	manyRecords = 20
	// manyAnswers of 0 tokens each are more than chance.
	manyAnswers = 10
	// maxPerMinute is one request every quarter of a second, each of which waits for
	// the answer to the one before: no provider is that quick.
	maxPerMinute = 240
)

// NoRequests is the kind of problem of many records without a request.
const NoRequests = "no-requests"

// Doubts are problems of a session as a whole: every record may have been read, and
// the sum is still nothing that an agent does. They are no part of Session.Problems.
func Doubts(s *Session) []Problem {
	var out []Problem
	for _, doubt := range []func(*Session) (string, string, int){noRequests, noTokens, tooMany} {
		if kind, detail, count := doubt(s); count > 0 {
			out = append(out, Problem{File: s.File, Kind: kind, Detail: detail, Count: count})
		}
	}
	return out
}

// noRequests: where record types were renamed, a reader finds nothing in many records.
func noRequests(s *Session) (kind, detail string, count int) {
	if s.Records < manyRecords || len(s.Requests)+len(s.Reported)+len(s.OtherBilled) > 0 {
		return "", "", 0
	}
	return NoRequests, fmt.Sprintf("%d records hold no request: the agent may write another form than this fclog knows", s.Records), 1
}

// noTokens: every answer reports 0 tokens where one is at least asked with a prompt.
func noTokens(s *Session) (kind, detail string, count int) {
	for _, r := range s.Requests {
		if r.Usage.Input == nil && r.Usage.Output == nil {
			continue
		}
		if value(r.Usage.Input)+value(r.Usage.Output) > 0 {
			return "", "", 0
		}
		count++
	}
	if count < manyAnswers {
		return "", "", 0
	}
	return "no-tokens", "all requests report 0 tokens: what was really used is not known", count
}

// tooMany: more requests of one chain within a minute than can follow each other.
// The count is that of the requests in such minutes.
func tooMany(s *Session) (kind, detail string, count int) {
	most := 0
	for _, times := range timesByChain(s) {
		slices.SortFunc(times, time.Time.Compare)
		counted := 0 // of times, those that count already
		for first, last := 0, 0; last < len(times); last++ {
			for times[last].Sub(times[first]) >= time.Minute {
				first++
			}
			n := last - first + 1
			if n <= maxPerMinute {
				continue
			}
			most = max(most, n)
			count += last + 1 - max(first, counted)
			counted = last + 1
		}
	}
	if count == 0 {
		return "", "", 0
	}
	return "request-rate", fmt.Sprintf("up to %d requests follow each other within a minute, more than a provider can answer: times or requests are wrong", most), count
}

func timesByChain(s *Session) map[int][]time.Time {
	out := map[int][]time.Time{}
	for _, r := range s.Requests {
		if !r.Inherited && r.Status == Answered && !r.Time.IsZero() {
			out[r.Chain] = append(out[r.Chain], r.Time)
		}
	}
	return out
}
