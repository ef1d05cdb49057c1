package main

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// holding are the steps about what objects take of it. They run only when they are
// named, and after create. held leaves the server restarted.
var holding = []step{
	{"held", "one list of all objects, and the server's memory before and after it and after a restart", held},
	{"fat", "a merge patch of one of 300 objects of 300 KB, a hundred each second", fat},
}

func memorySteps() string { return joined(holding) }

// held compares the server's memory with what its objects have as bytes.
func held(c config, t *target) (measurement, error) {
	written := t.settled()
	start, used := time.Now(), t.usage().cpu
	_, body, err := t.do("GET", workload.Collection("v1"), "", jsonType, nil)
	if err != nil {
		return measurement{}, err
	}
	took := time.Since(start)
	m := summarize([]time.Duration{took}, took, t.usage().cpu-used)
	stored := len(body)
	listed := t.settled()
	if _, _, err := t.again(); err != nil {
		return measurement{}, err
	}
	restarted := t.settled()
	times := func(rss float64) string { return fmt.Sprintf("%.0f MB (%.2f)", rss, rss*1e6/float64(stored)) }
	m.Note = fmt.Sprintf("%.0f MB of objects; resident, and times that: written %s, listed %s, restarted %s",
		float64(stored)/1e6, times(written), times(listed), times(restarted))
	return m, nil
}

const (
	fatObjects = 300
	fatPace    = 10 * time.Millisecond
	fatClients = 32
)

// fat writes large objects at a pace, while others read something else.
func fat(c config, t *target) (measurement, error) {
	path := func(i int) string { return workload.Path("v1", math.MaxInt32+i%fatObjects) }
	others := func() measurement {
		return load{duration: c.duration, clients: 2, request: func(int) error {
			return t.ok("GET", "/api/v1/namespaces/default", "", jsonType, nil)
		}}.measure(t)
	}
	before := others()
	load{total: fatObjects, clients: 2, request: func(i int) error {
		return t.ok("POST", workload.Collection("v1"), jsonType, jsonType, workload.Fat(math.MaxInt32+i))
	}}.measure(t)
	_, one, err := t.do("GET", path(0), "", jsonType, nil)
	if err != nil {
		return measurement{}, err
	}
	idle, beside := t.settled(), make(chan measurement, 1)
	go func() { beside <- others() }()
	m := t.paced(fatPace, int(c.duration/fatPace), func(i int) error {
		return t.ok("PATCH", path(i), merge, jsonType, []byte(`{"spec":{"replicas":`+strconv.Itoa(i)+`}}`))
	})
	busy, stored := t.usage().rss, float64(len(one)*fatObjects)/1e6
	during := <-beside
	m.Note = fmt.Sprintf("%.0f MB of objects; %.0f MB resident at rest, %.0f when written (%.2f times), %.0f at rest again; p99 of others' gets %.1f ms, before %.1f ms",
		stored, idle, busy, busy/stored, t.settled(), during.P99, before.P99)
	return m, nil
}

// paced begins n requests at a pace, or slower where too many are under way.
func (t *target) paced(pace time.Duration, n int, request func(i int) error) measurement {
	latencies := make([]time.Duration, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	used, start := t.usage().cpu, time.Now()
	turns := make(chan struct{}, fatClients)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			began := time.Now()
			errs[i] = request(i)
			latencies[i] = time.Since(began)
		})
	}
	all.Wait()
	m := summarize(latencies, time.Since(start), t.usage().cpu-used)
	for _, err := range errs {
		if err != nil {
			m.Errors++
		}
	}
	return m
}
