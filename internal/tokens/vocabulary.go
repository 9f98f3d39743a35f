package tokens

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/pkoukk/tiktoken-go-loader/assets"
	"github.com/zeebo/xxh3"
)

// noRank is the rank of what is no token: higher than every rank.
const noRank = 1<<31 - 1

// vocabulary maps the bytes of a token to its rank: open addressing over one
// block of bytes, three times as fast as a map of strings.
type vocabulary struct {
	text    []byte   // all tokens, one behind the other, in order of rank
	offset  []uint32 // rank r is text[offset[r]:offset[r+1]]
	slots   []slot
	longest int     // bytes of the longest token
	pairs   []int32 // ranks of the tokens of two bytes, by these; noRank: none
}

// slot is one place of the table; rank is kept plus one, so that 0 is empty.
type slot struct {
	rank uint32
	tag  uint32 // upper half of the hash
}

// slotBits gives a table that is filled to less than 40 % by 200,000 tokens.
const slotBits = 19

// loadVocabulary reads the embedded file of an encoding. The file is part of the
// program, so a fault in it is a fault of the build.
func loadVocabulary(encoding string) *vocabulary {
	data, err := assets.Assets.ReadFile(encoding + ".tiktoken")
	if err != nil {
		panic(fmt.Sprintf("embedded vocabulary: %v", err))
	}
	v, err := parseVocabulary(data)
	if err != nil {
		panic(fmt.Sprintf("embedded vocabulary %s: %v", encoding, err))
	}
	return v
}

// parseVocabulary reads lines of "base64 rank" with ranks 0, 1, 2 ….
func parseVocabulary(data []byte) (*vocabulary, error) {
	v := &vocabulary{slots: make([]slot, 1<<slotBits), pairs: make([]int32, 1<<16)}
	v.text, v.offset = make([]byte, 0, len(data)/2), append(make([]uint32, 0, len(data)/16), 0)
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	var want []byte
	for line := range bytes.Lines(data) {
		token, rank, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if !ok {
			continue
		}
		if want = strconv.AppendInt(want[:0], int64(len(v.offset)-1), 10); !bytes.Equal(rank, want) {
			if err := v.pad(string(rank)); err != nil {
				return nil, err
			}
		}
		text, err := base64.StdEncoding.AppendDecode(v.text, token)
		if err != nil {
			return nil, fmt.Errorf("token of rank %s: %w", rank, err)
		}
		v.add(text)
	}
	v.index()
	return v, nil
}

// pad adds empty tokens up to a rank that the file skips to.
func (v *vocabulary) pad(rank string) error {
	r, err := strconv.Atoi(rank)
	if err != nil || r < len(v.offset)-1 {
		return fmt.Errorf("rank %q out of order", rank)
	}
	for len(v.offset)-1 < r {
		v.offset = append(v.offset, uint32(len(v.text)))
	}
	return nil
}

// add takes the text that now ends with the next token.
func (v *vocabulary) add(text []byte) {
	token := text[len(v.text):]
	rank := len(v.offset) - 1
	v.text = text
	v.offset = append(v.offset, uint32(len(text)))
	v.longest = max(v.longest, len(token))
	if len(token) == 2 {
		v.pairs[int(token[0])<<8|int(token[1])] = int32(rank)
	}
}

// index fills the table. The places of some tokens are looked at before any of them
// is filled: the processor then waits for memory once instead of for each.
func (v *vocabulary) index() {
	var hashes, places [64]uint64
	size := len(v.offset) - 1
	for from := 0; from < size; from += len(hashes) {
		upto := min(from+len(hashes), size)
		for rank := from; rank < upto; rank++ {
			hashes[rank-from] = xxh3.Hash(v.text[v.offset[rank]:v.offset[rank+1]])
		}
		for i, hash := range hashes {
			taken := uint64(0)
			if v.slots[hash&(1<<slotBits-1)].rank != 0 {
				taken = 1
			}
			places[i] = hash + taken
		}
		for rank := from; rank < upto; rank++ {
			if v.size(int32(rank)) > 0 { // else it is only skipped to
				v.insert(places[rank-from], slot{rank: uint32(rank) + 1, tag: uint32(hashes[rank-from] >> 32)})
			}
		}
	}
}

// insert puts a token at a place or at the next free one.
func (v *vocabulary) insert(place uint64, s slot) {
	at := place & (1<<slotBits - 1)
	for v.slots[at].rank != 0 {
		at = (at + 1) & (1<<slotBits - 1)
	}
	v.slots[at] = s
}

// find returns the rank of a token by its bytes and their hash.
func (v *vocabulary) find(token string, hash uint64) (int32, bool) {
	if len(token) > v.longest {
		return noRank, false
	}
	for at := hash & (1<<slotBits - 1); ; at = (at + 1) & (1<<slotBits - 1) {
		s := v.slots[at]
		if s.rank == 0 {
			return noRank, false
		}
		if s.tag == uint32(hash>>32) && string(v.text[v.offset[s.rank-1]:v.offset[s.rank]]) == token {
			return int32(s.rank - 1), true
		}
	}
}

// rank returns the rank of a token, noRank for other bytes.
func (v *vocabulary) rank(token string) int32 {
	switch {
	case len(token) == 2:
		return v.pairs[int(token[0])<<8|int(token[1])]
	case len(token) > v.longest:
		return noRank
	}
	r, _ := v.find(token, xxh3.HashString(token))
	return r
}

// token returns the bytes of a token.
func (v *vocabulary) token(rank int32) string {
	return string(v.text[v.offset[rank]:v.offset[rank+1]])
}

// size returns the bytes of a token.
func (v *vocabulary) size(rank int32) int {
	return int(v.offset[rank+1] - v.offset[rank])
}
