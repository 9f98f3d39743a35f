package gemini

import "github.com/fclog/fclog/rollout"

// payload lists the pieces of the list in the order they are sent. Results that
// stand with their calls count only where no user message holds them: newer
// versions write both, and a resume sends what its checkpoint says, twice if so.
func (c *chat) payload() []*piece {
	answered := map[string]bool{}
	for _, e := range c.list {
		if e.Type.V != "user" {
			continue
		}
		for _, p := range e.pieces {
			if p.Kind == rollout.ToolResult {
				answered[p.CallID] = true
			}
		}
	}
	var out, waiting []*piece
	for _, e := range c.list {
		if !e.joined {
			out, waiting = append(out, waiting...), nil
		}
		out = append(out, e.pieces...)
		for _, p := range e.results {
			if !answered[p.CallID] {
				waiting = append(waiting, p)
			}
		}
	}
	return append(out, waiting...)
}
