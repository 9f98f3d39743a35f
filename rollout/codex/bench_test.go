package codex

import (
	"context"
	"testing"

	"github.com/fclog/fclog/internal/devdata"
)

func BenchmarkRead(b *testing.B) {
	path := devdata.Dir(b, "codex", "mjepa-0726-head.jsonl")
	b.SetBytes(2046814)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}
