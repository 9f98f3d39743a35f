package tokens

// shortPiece is the longest piece whose pairs are searched one by one; above it
// a heap finds the next pair. Measured: the two cross at about 200 bytes.
const shortPiece = 200

// longPiece is the longest piece that the heap merges; it needs 28 bytes of memory
// for each byte of the piece.
const longPiece = 1 << 16

// merge counts the tokens of a piece that is no token itself: byte pair encoding
// joins the neighbours whose joint bytes have the lowest rank, leftmost first,
// until no joint bytes are a token.
func (c *counter) merge(s *scratch, piece string) int {
	if len(piece) <= shortPiece {
		return c.mergeShort(s, piece)
	}
	if len(piece) <= longPiece {
		return s.merger.merge(c.vocab, piece)
	}
	return c.table().count(piece)
}

// part is a token under construction: where it starts, and the rank of its bytes
// joined with those of the next part.
type part struct {
	start int32
	rank  int32
}

func (c *counter) mergeShort(s *scratch, piece string) int {
	parts := s.parts[:0]
	for i := range len(piece) {
		parts = append(parts, part{int32(i), noRank})
	}
	parts = append(parts, part{int32(len(piece)), noRank})
	join := func(i int) int32 {
		if i+2 >= len(parts) {
			return noRank
		}
		return c.vocab.rank(piece[parts[i].start:parts[i+2].start])
	}
	for i := range len(parts) - 2 {
		parts[i].rank = join(i)
	}
	for {
		best := 0
		for i := range parts {
			if parts[i].rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == noRank {
			break
		}
		parts = append(parts[:best+1], parts[best+2:]...)
		parts[best].rank = join(best)
		if best > 0 {
			parts[best-1].rank = join(best - 1)
		}
	}
	s.parts = parts
	return len(parts) - 1
}

// merger merges long pieces in O(n log n): a linked list of parts and a heap of
// the pairs that could be joined. An entry whose pair has changed meanwhile is
// dropped when it comes up.
type merger struct {
	next []int32 // by start of a part: start of the next
	prev []int32
	rank []int32  // of the pair that starts here; noRank: none, or joined to the left
	heap []uint64 // rank << 32 | start: lowest rank first, then leftmost
}

func (m *merger) merge(v *vocabulary, piece string) int {
	m.reset(v, piece)
	parts := len(piece)
	for len(m.heap) > 0 {
		entry := m.pop()
		at := int32(uint32(entry))
		if m.rank[at] != int32(entry>>32) {
			continue
		}
		gone := m.next[at]
		after := m.next[gone]
		m.next[at] = after
		if int(after) < len(piece) {
			m.prev[after] = at
		}
		m.rank[gone] = noRank
		parts--
		m.update(v, piece, at)
		if at > 0 {
			m.update(v, piece, m.prev[at])
		}
	}
	return parts
}

// reset starts with one part a byte.
func (m *merger) reset(v *vocabulary, piece string) {
	m.next, m.prev, m.rank, m.heap = m.next[:0], m.prev[:0], m.rank[:0], m.heap[:0]
	for i := range len(piece) {
		m.next = append(m.next, int32(i+1))
		m.prev = append(m.prev, int32(i-1))
		m.rank = append(m.rank, noRank)
		if i+2 <= len(piece) {
			m.rank[i] = v.rank(piece[i : i+2])
		}
		if m.rank[i] != noRank {
			m.heap = append(m.heap, uint64(m.rank[i])<<32|uint64(i))
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
}

// update looks the pair that starts at a part up again.
func (m *merger) update(v *vocabulary, piece string, at int32) {
	rank := int32(noRank)
	if next := m.next[at]; int(next) < len(piece) {
		rank = v.rank(piece[at:m.next[next]])
	}
	m.rank[at] = rank
	if rank != noRank {
		m.push(uint64(rank)<<32 | uint64(at))
	}
}

func (m *merger) push(entry uint64) {
	m.heap = append(m.heap, entry)
	i := len(m.heap) - 1
	for i > 0 && m.heap[(i-1)/2] > entry {
		m.heap[i] = m.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	m.heap[i] = entry
}

func (m *merger) pop() uint64 {
	top := m.heap[0]
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	if last > 0 {
		m.down(0)
	}
	return top
}

func (m *merger) down(i int) {
	entry := m.heap[i]
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			break
		}
		if child+1 < len(m.heap) && m.heap[child+1] < m.heap[child] {
			child++
		}
		if m.heap[child] >= entry {
			break
		}
		m.heap[i] = m.heap[child]
		i = child
	}
	m.heap[i] = entry
}
