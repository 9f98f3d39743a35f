package tokens

import (
	"testing"

	"github.com/fclog/fclog/internal/homes"
)

var kinds = []string{"code", "log", "diff", "json", "prose"}

// Cold: nothing is remembered but the vocabulary is loaded. Warm: the same text
// once more.
func BenchmarkCount(b *testing.B) {
	for _, kind := range kinds {
		text := homes.Text(kind, 1<<20, 5)
		c := New()
		c.Count(O200K, "x")
		b.Run("cold/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				select {
				case <-c.o200k().idle:
				default:
				}
				c.Count(O200K, text)
			}
		})
		b.Run("warm/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Count(O200K, text)
			}
		})
	}
}

// tiktoken-go on the same texts.
func BenchmarkReference(b *testing.B) {
	for _, kind := range kinds {
		text := homes.Text(kind, 1<<18, 5)
		enc := reference()[O200K]
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				enc.EncodeOrdinary(text)
			}
		})
	}
}
