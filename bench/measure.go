package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// measurement is one step on one server.
type measurement struct {
	Step   string  `json:"step"`
	Server string  `json:"server"`
	Ops    int64   `json:"ops"`
	Rate   float64 `json:"opsPerSecond"`
	P50    float64 `json:"p50Milliseconds"`
	P99    float64 `json:"p99Milliseconds"`
	CPU    float64 `json:"serverCPUMicrosecondsPerOp"`
	RSS    float64 `json:"serverRSSMB"`
	Errors int64   `json:"errors"`
	Note   string  `json:"note,omitempty"`
}

// load is a closed loop of clients: each sends its next request when the last
// was answered. It ends after total requests, or, if that is zero, after a
// time.
type load struct {
	total    int
	duration time.Duration
	clients  int
	request  func(i int) error
}

func (l load) measure(t *target) measurement {
	var next, failures atomic.Int64
	var example atomic.Pointer[error]
	latencies := make([][]time.Duration, l.clients)
	var wg sync.WaitGroup
	used, start := t.usage(), time.Now()
	for w := range l.clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1) - 1)
				if l.total > 0 && i >= l.total || l.total == 0 && time.Since(start) > l.duration {
					return
				}
				began := time.Now()
				if err := l.request(i); err != nil {
					failures.Add(1)
					example.CompareAndSwap(nil, &err)
				}
				latencies[w] = append(latencies[w], time.Since(began))
			}
		}()
	}
	wg.Wait()
	m := summarize(slices.Concat(latencies...), time.Since(start), t.usage().cpu-used.cpu)
	m.Errors = failures.Load()
	if e := example.Load(); e != nil {
		fmt.Fprintln(os.Stderr, "first error:", *e)
	}
	return m
}

// summarize makes a measurement of latencies, the time it took and the CPU
// time the server used meanwhile.
func summarize(latencies []time.Duration, took, cpu time.Duration) measurement {
	slices.Sort(latencies)
	quantile := func(q float64) float64 {
		if len(latencies) == 0 {
			return 0
		}
		return float64(latencies[int(float64(len(latencies)-1)*q)].Microseconds()) / 1000
	}
	n := int64(len(latencies))
	return measurement{
		Ops: n, Rate: float64(n) / took.Seconds(), P50: quantile(.5), P99: quantile(.99),
		CPU: float64(cpu.Microseconds()) / float64(max(n, 1)),
	}
}
