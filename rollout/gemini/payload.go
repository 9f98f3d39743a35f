package gemini

// payload lists the pieces of the list in the order they are sent. Results that
// stand with their calls count only where no user message holds them: newer
// versions write both, and a resume sends what its checkpoint says, twice if so.
func (c *chat) payload() []*piece {
	answered := c.known().answered
	out, waiting := make([]*piece, 0, len(c.sent.Pieces())+8), []*piece(nil)
	for _, e := range c.list {
		if !e.joined {
			out, waiting = append(out, waiting...), nil
		}
		out = append(out, e.pieces...)
		if e.told {
			continue
		}
		e.told = true
		for _, p := range e.results {
			if !answered[p.CallID] {
				e.told = false
				waiting = append(waiting, p)
			}
		}
	}
	return append(out, waiting...)
}
