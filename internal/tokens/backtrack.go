package tokens

import "math/bits"

// A piece of megabytes would cost the heap merge 28 bytes of memory for each of
// its own. Such pieces are encoded from left to right instead: take the longest
// token that may stand behind the last one, else a shorter one, else take the last
// one back. Two tokens may stand side by side exactly if byte pair encoding of
// their joint bytes gives these two, and a sequence of which all neighbours may
// is the encoding of the whole (github.com/github/rust-gems, crate bpe, where this
// is proved). It keeps the tokens found so far and one bit a byte.

// mergeTable holds what the two questions need: how each token was merged, and
// what two tokens merge into.
type mergeTable struct {
	vocab  *vocabulary
	left   []int32          // by rank: left part of its last merge; itself for a single byte
	right  []int32          // right part
	prefix []int32          // longest token that is a proper prefix; noRank: none
	joined map[uint64]int32 // left << 32 | right: rank of the merged token
	sizes  []sizeSet        // by the first two bytes: sizes of the tokens with them
}

// sizeSet is a set of token sizes from 2 to 129: bit 0 is 2.
type sizeSet [2]uint64

func (s *sizeSet) add(size int) { s[(size-2)/64] |= 1 << ((size - 2) % 64) }

// below returns the largest size in the set that is at most limit, 0 for none.
func (s *sizeSet) below(limit int) int {
	limit = min(limit-2, 127)
	for word := limit >> 6; word >= 0 && limit >= 0; word-- {
		set := s[word]
		if word == limit>>6 {
			set &= ^uint64(0) >> (63 - limit%64)
		}
		if set != 0 {
			return word*64 + bits.Len64(set) + 1
		}
	}
	return 0
}

func newMergeTable(v *vocabulary) *mergeTable {
	n := len(v.offset) - 1
	t := &mergeTable{
		vocab: v, left: make([]int32, n), right: make([]int32, n), prefix: make([]int32, n),
		joined: make(map[uint64]int32, n), sizes: make([]sizeSet, 1<<16),
	}
	for rank := range n {
		if token := v.token(int32(rank)); len(token) >= 2 {
			t.sizes[int(token[0])<<8|int(token[1])].add(len(token))
		}
	}
	for rank := range n {
		token := v.token(int32(rank))
		t.prefix[rank] = t.longest(token, len(token)-1)
	}
	for rank := range n {
		t.unmerge(int32(rank))
	}
	return t
}

// unmerge finds the two tokens of lower rank that a token was merged from.
func (t *mergeTable) unmerge(rank int32) {
	token := t.vocab.token(rank)
	t.left[rank], t.right[rank] = rank, rank
	for left := t.prefix[rank]; left != noRank; left = t.prefix[left] {
		right := t.vocab.rank(token[t.vocab.size(left):])
		if left < rank && right < rank && t.mayNeighbour(left, right) {
			t.left[rank], t.right[rank] = left, right
			t.joined[uint64(left)<<32|uint64(right)] = rank
			return
		}
	}
}

// mayNeighbour says whether byte pair encoding leaves the border between two
// tokens alone: going back through their merges, latest first, no pair across the
// border may have had a lower rank than the merge that was done instead.
func (t *mergeTable) mayNeighbour(left, right int32) bool {
	limit := int32(noRank)
	for {
		if rank, ok := t.joined[uint64(left)<<32|uint64(right)]; ok && rank < limit {
			return false
		}
		if left > right {
			if limit, left = left, t.right[left]; left != limit {
				continue
			}
			if limit, right = right+1, t.left[right]; right+1 == limit {
				return true
			}
			continue
		}
		if limit, right = right+1, t.left[right]; right+1 != limit {
			continue
		}
		if limit, left = left, t.right[left]; left == limit {
			return true
		}
	}
}

// longest returns the longest token that text begins with, of at most limit bytes.
func (t *mergeTable) longest(text string, limit int) int32 {
	limit = min(limit, len(text))
	if limit < 1 {
		return noRank
	}
	if limit >= 2 {
		sizes := &t.sizes[int(text[0])<<8|int(text[1])]
		for size := sizes.below(limit); size > 0; size = sizes.below(size - 1) {
			if rank := t.vocab.rank(text[:size]); rank != noRank {
				return rank
			}
		}
	}
	return t.vocab.rank(text[:1])
}

// count returns the tokens of a piece.
func (t *mergeTable) count(piece string) int {
	var tokens []int32
	dead := make([]uint64, len(piece)/64+1) // places that no encoding goes through
	known := new(verdicts)
	at, token := 0, t.longest(piece, len(piece))
	for at < len(piece) {
		end := at + t.vocab.size(token)
		switch {
		case dead[end/64]>>(end%64)&1 == 0 && (len(tokens) == 0 || known.mayNeighbour(t, tokens[len(tokens)-1], token)):
			tokens = append(tokens, token)
			at = end
			token = t.longest(piece[at:], len(piece))
		case t.prefix[token] != noRank:
			token = t.prefix[token]
		default:
			dead[at/64] |= 1 << (at % 64)
			token = tokens[len(tokens)-1]
			tokens = tokens[:len(tokens)-1]
			at -= t.vocab.size(token)
		}
	}
	return len(tokens)
}

// verdicts remembers what mayNeighbour said: long pieces ask the same again and
// again.
type verdicts [1 << 12]struct {
	pair uint64 // of ranks plus one; 0: none
	ok   bool
}

func (v *verdicts) mayNeighbour(t *mergeTable, left, right int32) bool {
	pair := uint64(left+1)<<32 | uint64(right+1)
	entry := &v[(pair^pair>>27)%uint64(len(v))]
	if entry.pair != pair {
		entry.pair, entry.ok = pair, t.mayNeighbour(left, right)
	}
	return entry.ok
}
