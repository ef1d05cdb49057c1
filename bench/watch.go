package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// seqKey marks the updates of the fan-out steps, as it appears in an event.
const seqKey = `"bench/seq":"`

// deliveryTimeout is how long the last event may take.
const deliveryTimeout = time.Minute

// watchers are connections that all watch the same collection.
type watchers struct {
	t *target
	// version and query say what they watch.
	version, query string
	// want is the number of events each one waits for; sent is when each was
	// caused, in nanoseconds.
	want int
	sent []atomic.Int64

	mu        sync.Mutex
	latencies []time.Duration
}

// fanOut opens many watches, updates one object after the other and measures
// until all watchers have seen all updates. An operation is a delivered event.
func fanOut(version string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		rv, err := listRevision(t)
		if err != nil {
			return measurement{}, err
		}
		w := &watchers{t: t, version: version, query: "&resourceVersion=" + rv, want: c.updates, sent: make([]atomic.Int64, c.updates)}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done, err := w.open(ctx, c.watchers)
		if err != nil {
			return measurement{}, err
		}
		used, start := t.usage(), time.Now()
		for i := range c.updates {
			w.sent[i].Store(time.Now().UnixNano())
			// The time makes every value new: a patch that changes nothing is no event.
			patch := `{"metadata":{"annotations":{"bench/seq":"` + strconv.Itoa(i) + "." + strconv.FormatInt(start.UnixNano(), 10) + `"}}}`
			if err := t.ok("PATCH", workload.Path("v1", i%c.objects), merge, jsonType, []byte(patch)); err != nil {
				return measurement{}, err
			}
		}
		select {
		case <-done:
		case <-time.After(deliveryTimeout):
		}
		took, cpu := time.Since(start), t.usage().cpu-used.cpu
		cancel()
		<-done
		m := summarize(w.latencies, took, cpu)
		m.Errors = int64(c.watchers)*int64(c.updates) - m.Ops
		return m, nil
	}
}

func listRevision(t *target) (string, error) {
	_, reply, err := t.do("GET", workload.Collection("v1")+"?limit=1", "", jsonType, nil)
	if err != nil {
		return "", err
	}
	var l struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(reply, &l); err != nil || l.Metadata.ResourceVersion == "" {
		return "", fmt.Errorf("no list: %w %.200s", err, reply)
	}
	return l.Metadata.ResourceVersion, nil
}

// open connects n watchers and returns when all are answered; done is closed
// when all have ended.
func (w *watchers) open(ctx context.Context, n int) (done chan struct{}, err error) {
	transport := streams()
	var running sync.WaitGroup
	answered := make(chan error, n)
	for range n {
		running.Add(1)
		go func() {
			defer running.Done()
			w.follow(ctx, transport, answered)
		}()
	}
	done = make(chan struct{})
	go func() {
		running.Wait()
		transport.CloseIdleConnections()
		close(done)
	}()
	for range n {
		err = errors.Join(err, <-answered)
	}
	return done, err
}

// follow is one watcher.
func (w *watchers) follow(ctx context.Context, transport http.RoundTripper, answered chan<- error) {
	body, err := w.t.stream(ctx, transport, w.version, w.query)
	answered <- err
	if err != nil {
		return
	}
	defer body.Close()
	latencies := w.read(bufio.NewReaderSize(body, 1<<16))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latencies = append(w.latencies, latencies...)
}

// read waits for the marked events. It looks for the mark only: decoding would
// measure the client.
func (w *watchers) read(r *bufio.Reader) []time.Duration {
	latencies := make([]time.Duration, 0, w.want)
	for len(latencies) < w.want {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		_, mark, ok := bytes.Cut(line, []byte(seqKey))
		if !ok {
			continue
		}
		digits, _, _ := bytes.Cut(mark, []byte("."))
		if i, err := strconv.Atoi(string(digits)); err == nil && i >= 0 && i < len(w.sent) {
			latencies = append(latencies, time.Duration(time.Now().UnixNano()-w.sent[i].Load()))
		}
	}
	return latencies
}
