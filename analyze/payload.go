package analyze

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// PayloadOptions say which payloads to list.
type PayloadOptions struct {
	Request int64 // number along its chain; 0 all
}

// PayloadRequest is all that one request carried. Nil means unknown.
type PayloadRequest struct {
	SessionID      string     `json:"session_id"`
	Chain          int64      `json:"chain"`
	Request        int64      `json:"request"`
	Kind           string     `json:"kind"`
	Time           *time.Time `json:"time"`
	Model          *string    `json:"model"`
	InputTokens    *int64     `json:"input_tokens"`
	CountedTokens  int64      `json:"counted_tokens"`
	FramingTokens  *int64     `json:"framing_tokens"`
	UnloggedTokens *int64     `json:"unlogged_tokens"`
	// ConstantTokens is the part of UnloggedTokens that goes out with every turn, an
	// estimate; a turn without usage has one too. Nil where nothing tells.
	ConstantTokens *int64        `json:"constant_tokens"`
	ConstantLow    *int64        `json:"constant_low"`
	ConstantHigh   *int64        `json:"constant_high"`
	ConstantMethod *string       `json:"constant_method"` // log, first-request, cache-reads, calibration, totals
	Parts          []PayloadPart `json:"parts"`           // in the order they were sent
}

// PayloadPart is one logged part of a payload.
type PayloadPart struct {
	Item   int64   `json:"item"`
	Kind   string  `json:"kind"`
	Role   *string `json:"role"`
	Tool   *string `json:"tool"`
	CallID *string `json:"call_id"`
	Chars  int64   `json:"chars"`  // Unicode code points
	Tokens *int64  `json:"tokens"` // raw count
	SHA256 string  `json:"sha256"` // of the UTF-8 text as sent
	Origin string  `json:"origin"`
}

// Payload gives every counting request of the selected sessions to emit, sessions
// in order of start, requests in order of the log. It holds the stretches of one
// session in memory, never a list of all parts of all requests.
func Payload(ctx context.Context, db *DB, o PayloadOptions, emit func(PayloadRequest) error) error {
	a := &auditor{ctx: ctx, db: db, conn: db.conn}
	sessions, err := collect(a, "sessions", Params{}, func(s scan, id *string) error {
		dest := make([]any, 14)
		for i := range dest {
			dest[i] = new(any)
		}
		dest[0] = id
		return s(dest...)
	})
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	seen := map[string]bool{}
	for _, id := range sessions {
		if seen[id] {
			continue // the same ID in two sources: both were given the first time
		}
		seen[id] = true
		if err := a.payloadOf(id, o, emit); err != nil {
			return fmt.Errorf("payload of session %s: %w", id, err)
		}
	}
	return nil
}

// stretch is one part and the requests of its chain that carried it.
type stretch struct {
	PayloadPart
	first, last, position int64
}

// bareRequest is a request without its parts.
type bareRequest struct {
	PayloadRequest
	part   string
	index  int64
	base   *int64
	counts bool
}

// chainKey names a chain of one part of the dataset.
type chainKey struct {
	part  string
	chain int64
}

func (a *auditor) payloadOf(session string, o PayloadOptions, emit func(PayloadRequest) error) error {
	stretches, err := a.stretches(session)
	if err != nil {
		return err
	}
	requests, err := collect(a, "payload-requests", Params{Session: session}, func(s scan, v *bareRequest) error {
		return s(&v.part, &v.SessionID, &v.index, &v.base, &v.counts, &v.Chain, &v.Request, &v.Kind, &v.Time, &v.Model,
			&v.InputTokens, &v.CountedTokens, &v.FramingTokens, &v.UnloggedTokens,
			&v.ConstantTokens, &v.ConstantLow, &v.ConstantHigh, &v.ConstantMethod)
	})
	if err != nil {
		return err
	}
	byIndex := map[string]map[int64]*bareRequest{}
	for i := range requests {
		r := &requests[i]
		if byIndex[r.part] == nil {
			byIndex[r.part] = map[int64]*bareRequest{}
		}
		byIndex[r.part][r.index] = r
	}
	sweeps := map[chainKey]*sweep{}
	for key, chain := range stretches {
		sweeps[key] = &sweep{chain: chain}
	}
	for _, r := range requests {
		if !r.counts || o.Request != 0 && r.Request != o.Request {
			continue
		}
		alive := sweeps[chainKey{r.part, r.Chain}].at(r.Request)
		r.Parts = partsOf(alive, basesOf(&r, byIndex[r.part]), stretches)
		if err := emit(r.PayloadRequest); err != nil {
			return err
		}
	}
	return nil
}

// stretches returns the stretches of a session by chain, in order of their first
// request.
func (a *auditor) stretches(session string) (map[chainKey][]stretch, error) {
	out := map[chainKey][]stretch{}
	err := a.each("payload", Params{Session: session}, func(s scan) error {
		var k chainKey
		var id string
		var v stretch
		if err := s(&k.part, &id, &k.chain, &v.first, &v.last, &v.position, &v.Item, &v.Kind, &v.Role, &v.Tool, &v.CallID,
			&v.Chars, &v.Tokens, &v.SHA256, &v.Origin); err != nil {
			return err
		}
		out[k] = append(out[k], v)
		return nil
	})
	return out, err
}

// slotBits are the bits of a position below the region of a payload.
const slotBits = 40

// sweep follows one chain from request to request.
type sweep struct {
	chain []stretch // in order of first
	next  int
	alive []stretch
}

// at returns the stretches alive at a request; calls must come in order of their
// requests.
func (w *sweep) at(request int64) []stretch {
	if w == nil {
		return nil
	}
	for ; w.next < len(w.chain) && w.chain[w.next].first <= request; w.next++ {
		w.alive = append(w.alive, w.chain[w.next])
	}
	w.alive = slices.DeleteFunc(w.alive, func(v stretch) bool { return v.last < request })
	return w.alive
}

// basesOf lists the requests whose payload a request sends again, nearest first.
func basesOf(r *bareRequest, byIndex map[int64]*bareRequest) []*bareRequest {
	var bases []*bareRequest
	for r.base != nil {
		base, ok := byIndex[*r.base]
		if !ok || base.index >= r.index {
			return bases
		}
		bases = append(bases, base)
		r = base
	}
	return bases
}

// partsOf lists the parts of a request: region by region, in each what the base
// requests sent, then the request's own.
func partsOf(own []stretch, bases []*bareRequest, stretches map[chainKey][]stretch) []PayloadPart {
	type placed struct {
		stretch
		depth int // 0: the request's own, 1: of its base, 2: of the base's base …
	}
	alive := make([]placed, 0, len(own))
	for _, v := range own {
		alive = append(alive, placed{v, 0})
	}
	for i, base := range bases {
		w := sweep{chain: stretches[chainKey{base.part, base.Chain}]}
		for _, v := range w.at(base.Request) {
			alive = append(alive, placed{v, i + 1})
		}
	}
	slices.SortStableFunc(alive, func(x, y placed) int {
		return cmp.Or(cmp.Compare(x.position>>slotBits, y.position>>slotBits), cmp.Compare(y.depth, x.depth), cmp.Compare(x.position, y.position))
	})
	parts := make([]PayloadPart, len(alive))
	for i, v := range alive {
		parts[i] = v.PayloadPart
	}
	return parts
}
