package view

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// firstError keeps the error of the first of many numbered things, so that the
// same failure is reported however they were divided among cores.
type firstError struct {
	mu  sync.Mutex
	err error
	n   int
}

func (f *firstError) note(n int, err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || n < f.n {
		f.err, f.n = err, n
	}
}

// spreadLeast is the least number of things for which other cores are asked.
const spreadLeast = 64

// Spread calls fn for 0 to n-1 on all cores and returns the error of the first
// of them that failed. After a failure no further ones are begun. A panic of
// fn is an error.
func Spread(n int, fn func(int) error) error {
	var first firstError
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := recovered(i, fn); err != nil {
				first.note(i, err)
				failed.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	if n >= spreadLeast {
		for range runtime.GOMAXPROCS(0) - 1 {
			others.Go(work)
		}
	}
	work()
	others.Wait()
	return first.err
}

func recovered(i int, fn func(int) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = apierrors.NewInternalError(fmt.Errorf("a stored object could not be read by a defect of the server: %v", v))
		}
	}()
	return fn(i)
}

// ErrTimeout is the refusal of a request whose time is over.
func ErrTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
}
