package codex

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/fclog/fclog/rollout/logfile"
)

// burst is how long the copying of a parent's history takes at most.
const burst = time.Second

// ownStart is the index of the first record that is the file's own: everything
// before it, the first session_meta aside, was copied from another thread. The
// evidence is tried in the order of its strength.
func (f *facts) ownStart(ctx context.Context) int {
	if len(f.metas) == 0 {
		return 0
	}
	own := f.metas[0]
	if n, ok := f.startOrdinal(own.StartOrdinal, own.HistoryBase.V.End); ok {
		return n
	}
	if !f.copied() {
		return 0
	}
	if n, ok := f.firstOwnTurn(own.ID.V); ok {
		return n
	}
	if n, ok := f.startOrdinal(own.ForkOrdinal); ok {
		return n
	}
	if n, ok := f.afterParentTotals(ctx, f.forkedFrom()); ok {
		return n
	}
	return f.afterBurst(own)
}

// copied says whether the file shows that it holds another thread's history.
func (f *facts) copied() bool {
	return f.forkedFrom() != ""
}

// forkedFrom is the thread whose history the file holds.
func (f *facts) forkedFrom() string {
	if len(f.metas) == 0 {
		return ""
	}
	own := f.metas[0]
	if own.ForkedFrom.V != "" {
		return own.ForkedFrom.V
	}
	for _, m := range f.metas[1:] {
		if m.ID.V != "" && m.ID.V != own.ID.V {
			return m.ID.V
		}
	}
	return ""
}

// startOrdinal finds the first record at or after an ordinal that the log names
// as the start of its own history.
func (f *facts) startOrdinal(raws ...[]byte) (int, bool) {
	for _, raw := range raws {
		start, ok := number(raw)
		if !ok || len(f.ordinals) == 0 {
			continue
		}
		for _, o := range f.ordinals {
			if o.ordinal >= start {
				return o.record, true
			}
		}
		return f.records, true
	}
	return 0, false
}

// firstOwnTurn uses that a UUIDv7 holds the time of its creation: a turn of the
// file's own is not older than its thread.
func (f *facts) firstOwnTurn(thread string) (int, bool) {
	born, ok := uuidTime(thread)
	if !ok {
		return 0, false
	}
	known := false
	for _, t := range f.turnIDs {
		at, ok := uuidTime(t.id)
		known = known || ok
		if ok && !at.Before(born) {
			return t.record, true
		}
	}
	return f.records, known
}

// uuidTime is the creation time in the first 48 bits of a UUIDv7 (RFC 9562).
func uuidTime(id string) (time.Time, bool) {
	id = strings.ReplaceAll(id, "-", "")
	if len(id) != 32 || id[12] != '7' {
		return time.Time{}, false
	}
	raw, err := hex.DecodeString(id[:12])
	if err != nil {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range raw {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC(), true
}

// afterParentTotals skips the usage figures that the parent's log begins with.
func (f *facts) afterParentTotals(ctx context.Context, parent string) (int, bool) {
	path := parentFile(f.path, parent)
	if path == "" {
		return 0, false
	}
	theirs, err := scanTotals(ctx, path)
	if err != nil {
		return 0, false
	}
	n := 0
	for n < len(theirs) && n < len(f.totals) && theirs[n] == f.totals[n] {
		n++
	}
	if n == 0 {
		return 0, false
	}
	return f.totalAt[n-1] + 1, true
}

// scanTotals reads only the running totals of a log.
func scanTotals(ctx context.Context, path string) ([]counts, error) {
	r, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &facts{path: path}
	for r.Next() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, ok := parseRecord(r.Record())
		if !ok || rec.typ != typeEvent {
			continue
		}
		if e := within[event](rec.payload); e.Type.V == "token_count" {
			f.tokenCount(e, mark{})
		}
	}
	return f.totals, r.Err()
}

// afterBurst takes what was written within a second of the file's first line,
// or carries an older time, as copied, up to a turn that starts in that second
// and has no answer in it.
func (f *facts) afterBurst(own metaAt) int {
	begin := f.started
	if at, err := time.Parse(time.RFC3339Nano, own.Timestamp.V); err == nil && at.After(begin) {
		begin = at
	}
	end := f.records
	for i, at := range f.times {
		if !at.IsZero() && at.After(begin.Add(burst)) {
			end = i
			break
		}
	}
	turn := end
	for _, m := range f.marks {
		if m.record >= end {
			break
		}
		switch m.kind {
		case markTurn:
			turn = m.record
		case markOutput, markUsage:
			turn = end
		}
	}
	return turn
}
