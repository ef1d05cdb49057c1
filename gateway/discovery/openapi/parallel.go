package openapi

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// onAllCores calls fn for 0 to n-1, on all cores. fn must not panic.
func onAllCores(n int, fn func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}
