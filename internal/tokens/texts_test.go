package tokens

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each text keeps its own count, in both encodings, whoever asks first; more texts
// than are remembered are counted all the same.
func TestCountText(t *testing.T) {
	c := New()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 300 {
				text := strings.Repeat(fmt.Sprintf("text %d、", (i+worker*70)%300), 1+i%40)
				for _, encoding := range []string{O200K, CL100K} {
					want := c.Count(encoding, text)
					assert.Equal(t, want, c.CountText(encoding, text, sha256.Sum256([]byte(text))))
					assert.Equal(t, want, c.CountText(encoding, text, sha256.Sum256([]byte(text))))
				}
			}
		})
	}
	all.Wait()
}

func TestTextsAreBounded(t *testing.T) {
	c := New()
	text := strings.Repeat("x ", minText)
	var sum [sha256.Size]byte // all in one shard
	for i := range shardTexts + 10 {
		sum[1], sum[2] = byte(i), byte(i>>8)
		assert.Equal(t, int64(minText+1), c.CountText(O200K, text, sum))
	}
	assert.Len(t, c.texts[0].counts, shardTexts)
}
