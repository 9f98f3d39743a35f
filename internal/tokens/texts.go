package tokens

import (
	"crypto/sha256"
	"sync"
)

// Sessions of one project share prompts, instructions and copied histories: counts
// of whole texts are remembered by their SHA-256, for all who count at once.

const (
	textShards = 64
	// shardTexts bounds a shard: together they take some 50 MB.
	shardTexts = 8 << 10
	// minText is the shortest text that is remembered. Shorter ones are found by
	// their lines.
	minText = 256
)

// texts are remembered counts. What comes when a shard is full is not remembered.
type texts [textShards]struct {
	mu     sync.Mutex
	counts map[textKey]int64
}

type textKey struct {
	sum      [sha256.Size]byte
	encoding string
}

// CountText is Count of a text whose SHA-256 is known. A text that was counted
// before is not counted again.
func (t *Tokens) CountText(encoding, text string, sum [sha256.Size]byte) int64 {
	if len(text) < minText {
		return t.Count(encoding, text)
	}
	shard, key := &t.texts[sum[0]%textShards], textKey{sum, encoding}
	shard.mu.Lock()
	n, ok := shard.counts[key]
	shard.mu.Unlock()
	if ok {
		return n
	}
	n = t.Count(encoding, text)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.counts == nil {
		shard.counts = map[textKey]int64{}
	}
	if len(shard.counts) < shardTexts {
		shard.counts[key] = n
	}
	return n
}
