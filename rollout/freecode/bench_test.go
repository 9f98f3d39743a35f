package freecode

import (
	"context"
	"testing"

	"github.com/fclog/fclog/internal/devdata"
)

func BenchmarkReadLarge(b *testing.B) {
	path := devdata.Dir(b, "freecode", "large-seven", "freecode", "rollout", "sessions", "b4d6d881-2641-4c29-9423-d486cbc38aea", "events.jsonl")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}
