package etcd

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

// processCPU is the processor time that this process, servers included, has
// used.
func processCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRevision is what a consistent read pays for, with 32 readers at a
// time; idle, and while keys are written.
func BenchmarkRevision(b *testing.B) {
	e := start(b, b.TempDir())
	remote := connect(b, e)
	alone := startAlone(b)
	for name, s := range map[string]*Store{"embedded": alone.Store(), "client": remote} {
		for _, writers := range []int{0, 4} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				stop := make(chan struct{})
				var writing sync.WaitGroup
				for w := range writers {
					writing.Go(func() {
						key, rev := fmt.Sprintf("/%s/%d/%d", b.Name(), b.N, w), int64(0)
						for err := error(nil); ; {
							select {
							case <-stop:
								return
							default:
							}
							if rev == 0 {
								rev, err = s.Create(b.Context(), key, make([]byte, 1000), 0)
							} else {
								rev, err = s.Update(b.Context(), key, make([]byte, 1000), rev, 0)
							}
							if err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				b.SetParallelism(16)
				before := processCPU(b)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := s.Revision(b.Context()); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.StopTimer()
				b.ReportMetric(float64(processCPU(b)-before)/float64(b.N), "cpu-ns/op")
				close(stop)
				writing.Wait()
			})
		}
	}
}

// BenchmarkRead is one key of the embedded server.
func BenchmarkRead(b *testing.B) {
	s := start(b, b.TempDir()).Store()
	if _, err := s.Create(b.Context(), "/a", make([]byte, 1000), 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), "/a"); err != nil {
			b.Fatal(err)
		}
	}
}
