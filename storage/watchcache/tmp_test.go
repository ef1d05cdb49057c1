package watchcache

import (
	"context"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var ru syscall.Rusage
	syscall.Getrusage(0, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

func BenchmarkTmpWrite(b *testing.B) {
	e := embedded(b, b.TempDir())
	c := New[string](e.Store(), options())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go c.Run(ctx)
	<-c.Ready()
	time.Sleep(100*time.Millisecond)
	i0 := cpu(); t0 := time.Now()
	time.Sleep(1*time.Second)
	b.Logf("idle cpu per second %v over %v", cpu()-i0, time.Since(t0))
	c0 := cpu()
	t0 = time.Now()
	writeMany(b, e.Store(), 30000, make([]byte, 3500))
	c.Fresh(ctx)
	b.Logf("cpu per write %v wall %v", (cpu()-c0)/30000, time.Since(t0)/30000)
	e.Close()
}
