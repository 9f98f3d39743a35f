package codex

import "hash/maphash"

// copies finds records that a damaged file holds again: the whole file once more
// behind itself, or every record twice. Codex writes session_meta again too, but
// never at the same millisecond, so a first record that comes again byte for byte
// proves the copy. What follows is left out as long as it equals the original in
// content and order.
type copies struct {
	seed   maphash.Seed
	hashes []uint64     // of all records, in order
	at     map[int]bool // records left out
	twice  bool         // the second record was the first again
	next   int          // record that a copy must go on with; 0 in no copy
}

func newCopies() copies {
	return copies{seed: maphash.MakeSeed(), at: map[int]bool{}}
}

// repeats takes the next record in and says whether it is a copy.
func (c *copies) repeats(raw []byte) bool {
	n := len(c.hashes)
	hash := maphash.Bytes(c.seed, raw)
	c.hashes = append(c.hashes, hash)
	if n == 0 || len(raw) == 0 {
		return false
	}
	before := n - 1
	switch {
	case n == 1 && hash == c.hashes[0]:
		c.twice = true
		c.at[n] = true
	case c.twice && hash == c.hashes[before] && !c.at[before]:
		c.at[n] = true
	case c.next > 0 && c.next < n && hash == c.hashes[c.next]:
		c.at[n] = true
		c.next++
	case hash == c.hashes[0]:
		c.at[n] = true
		c.next = 1
	default:
		c.next = 0
	}
	return c.at[n]
}
