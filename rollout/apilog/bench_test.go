package apilog

import (
	"context"
	"testing"
)

// BenchmarkReadGrowing reads 500 requests that carry up to 999 messages.
func BenchmarkReadGrowing(b *testing.B) {
	path := grow(b, 500, true)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}
