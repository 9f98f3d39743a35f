package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// payload counts a request the slow way: every span against it, and its base.
func payload(s *rollout.Session, m *Measured, request int) int64 {
	r := s.Requests[request]
	sum := int64(0)
	for i, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last && m.Spans[i].Tokens != nil {
			sum += *m.Spans[i].Tokens
		}
	}
	if r.Base >= 0 {
		sum += payload(s, m, r.Base)
	}
	return sum
}

// carriedBySpans and carriedByRequests are the two sides of the identity.
func carriedBySpans(m *Measured) (sum int64) {
	for _, sp := range m.Spans {
		sum += value(sp.Tokens) * sp.Requests
	}
	return sum
}

func carriedByRequests(s *rollout.Session, m *Measured) (sum int64) {
	for i, r := range s.Requests {
		if !r.Inherited {
			sum += m.Requests[i].Counted
		}
	}
	return sum
}

func TestIdentityOnGeneratedSessions(t *testing.T) {
	counter := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		m := Measure(s, counter)
		assert.Equal(t, carriedBySpans(m), carriedByRequests(s, m))
		for i := range s.Requests {
			assert.Equal(t, payload(s, m, i), m.Requests[i].Counted, "request %d", i)
		}
		checkRequestSums(t, s, m)
	})
}

func checkRequestSums(t assert.TestingT, s *rollout.Session, m *Measured) {
	for i, r := range s.Requests {
		q := m.Requests[i]
		if r.Usage.Input == nil {
			assert.Nil(t, q.Calibrated)
			assert.Nil(t, q.Framing)
			assert.Nil(t, q.Unlogged)
			continue
		}
		assert.Equal(t, *r.Usage.Input, *q.Calibrated+*q.Framing+*q.Unlogged, "request %d", i)
	}
}

func TestMeasureIsDeterministic(t *testing.T) {
	counter := tokens.New()
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		assert.Equal(t, Measure(s, counter), Measure(s, counter))
	})
}
