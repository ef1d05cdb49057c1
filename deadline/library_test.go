package deadline

import (
	"context"
	"testing"
	"time"
)

// BenchmarkTimeout is a context that nobody waits for, below one that can end, as
// those of requests are.
func BenchmarkTimeout(b *testing.B) {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, with := range map[string]func(context.Context, time.Duration) (context.Context, context.CancelFunc){
		"ours": WithTimeout, "library": context.WithTimeout,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx, end := with(parent, time.Minute)
				if ctx.Err() != nil {
					b.Fatal(ctx.Err())
				}
				end()
			}
		})
	}
}
