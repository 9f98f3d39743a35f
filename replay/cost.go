package replay

import (
	"math"

	"github.com/fclog/fclog/rollout"
)

// writeSplit is how the input that was not read from the cache was paid for.
type writeSplit struct {
	unread, write, hour int64 // tokens: all of it, written at all, written for an hour
	known               bool  // the log reports writes
}

// splitOf reads a recorded request. Cache parts that are not reported were paid as
// plain input; writes of unknown lifetime are those of 5 minutes.
func splitOf(u rollout.Usage) writeSplit {
	if u.Input == nil {
		return writeSplit{}
	}
	w := writeSplit{unread: *u.Input - value(u.CacheRead), hour: value(u.CacheWrite1h)}
	w.known = u.CacheWrite != nil || u.CacheWrite5m != nil || u.CacheWrite1h != nil
	w.write = value(u.CacheWrite5m) + w.hour
	if u.CacheWrite != nil {
		w.write = max(*u.CacheWrite, w.hour)
	}
	return w
}

func (w *writeSplit) add(more writeSplit) {
	w.unread += more.unread
	w.write += more.write
	w.hour += more.hour
	w.known = w.known || more.known
}

// scaled splits another amount in the same proportion; where nothing was left
// unread it goes by what the session did as a whole.
func (w writeSplit) scaled(unread int64, session writeSplit) writeSplit {
	from := w
	if w.unread <= 0 {
		from = session
	}
	out := writeSplit{unread: unread, known: w.known}
	if from.unread > 0 {
		out.write = portion(unread, from.write, from.unread)
	}
	if from.write > 0 {
		out.hour = portion(out.write, from.hour, from.write)
	}
	return out
}

// portion is n × part / whole in whole numbers, never more than n.
func portion(n, part, whole int64) int64 {
	return min(n, int64(math.Round(float64(n)*float64(part)/float64(whole))))
}

// cost is the price in USD of a request.
func (r Rates) cost(input, read int64, w writeSplit, output int64) float64 {
	if r.LongAbove != nil && r.Long != nil && input > *r.LongAbove {
		r = *r.Long
	}
	usd := float64(input-read-w.write) * r.Input
	usd += float64(read) * r.CacheRead
	usd += float64(w.write-w.hour) * r.CacheWrite5m
	usd += float64(w.hour) * r.CacheWrite1h
	usd += float64(output) * r.Output
	return usd / 1e6
}
