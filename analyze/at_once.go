package analyze

import (
	"context"
	"database/sql"
	"sync"

	"github.com/fclog/fclog/internal/bug"
)

// step is something to do with one connection that nothing else uses meanwhile.
type step func(ctx context.Context, conn *sql.Conn) error

// atOnce takes steps that need nothing of each other in their order, one on each
// connection at a time. It returns the first error, after which no step begins.
func atOnce(ctx context.Context, conns []*sql.Conn, steps []step) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan step, len(steps))
	for _, s := range steps {
		next <- s
	}
	close(next)
	var panics bug.Carrier
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			panics.Do(func() {
				if err := take(ctx, conn, next); err != nil {
					stop(err)
				}
			})
		})
	}
	all.Wait()
	panics.Drop()
	return context.Cause(ctx) // the error that stopped the other, too
}

// take runs steps until none is left.
func take(ctx context.Context, conn *sql.Conn, steps <-chan step) error {
	for do := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}
