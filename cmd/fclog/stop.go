package main

import (
	"context"
	"time"

	"github.com/fclog/fclog/internal/bug"
)

// grace is how long work may take to notice that it is to stop, so that the
// programs it started are ended.
const grace = 300 * time.Millisecond

// atOnce does work that leaves nothing behind but its result, and does not wait for
// it once the program is asked to stop.
func atOnce[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var panics bug.Carrier
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		panics.Do(func() { out.value, out.err = do() })
		done <- out
	}()
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(stopped) }) })()
	select {
	case out := <-done:
		panics.Drop()
		return out.value, out.err
	case <-stopped:
		var none T
		return none, ctx.Err()
	}
}
