package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// slow are the steps about streams of which some are read slowly, or not at all, and
// lists that are streamed. They run only when they are named, after create.
var slow = []step{
	{"streamlists", "a streamed list of all objects, five clients at once", streamLists},
	{"slow-baseline", "an event delivered, 100 a second", besides(companion{}, 100)},
	{"slow-draining", "the same beside a watcher that comes twice a second, and reads", besides(companion{comes: true, reads: true}, 100)},
	{"slow-stalled", "the same beside a watcher that reads nothing", besides(companion{stays: true}, 100)},
	{"slow-reconnecting", "the same beside a watcher that comes twice a second, and reads nothing", besides(companion{comes: true}, 100)},
	{"slow-baseline-1000", "an event delivered, 1000 a second", besides(companion{}, 1000)},
	{"slow-reconnecting-1000", "the same beside a watcher that comes twice a second, and reads nothing", besides(companion{comes: true}, 1000)},
	{"stopped", "a large event delivered to one of 20 watchers, while 20 others read nothing for a minute", stopped},
}

func slowSteps() string { return joined(slow) }

// streams are connections of their own, in HTTP/1.1, so that one that is not read holds
// up no other.
func streams() *http.Transport {
	return &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// stream begins a watch.
func (t *target) stream(ctx context.Context, over http.RoundTripper, version, query string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url+workload.Collection(version)+"?watch=1&timeoutSeconds=600"+query, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+t.token)
	resp, err := over.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("watch: %s", resp.Status)
	}
	return resp.Body, nil
}

// streamLists has five clients at once stream all objects, three times.
func streamLists(c config, t *target) (measurement, error) {
	over := streams()
	defer over.CloseIdleConnections()
	var size atomic.Int64
	rest := t.settled()
	top := t.peak()
	m := load{total: 15, clients: 5, request: func(int) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		body, err := t.stream(ctx, over, "v1", "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan")
		if err != nil {
			return err
		}
		defer body.Close()
		r, n := bufio.NewReaderSize(body, 1<<16), 0
		for {
			line, err := r.ReadSlice('\n')
			n += len(line)
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
			case err != nil:
				return err
			case strings.Contains(string(line[:min(len(line), 400)]), "initial-events-end"):
				size.Store(int64(n))
				return nil
			}
		}
	}}.measure(t)
	m.Note = fmt.Sprintf("from %.0f MB at rest to %.0f MB, with %.0f MB each", rest, top(), float64(size.Load())/1e6)
	return m, nil
}

// companion is a watcher beside the one that is measured.
type companion struct{ comes, reads, stays bool }

// run has the companion watch until ctx ends.
func (c companion) run(ctx context.Context, t *target, from string) {
	over := streams()
	defer over.CloseIdleConnections()
	for (c.comes || c.stays) && ctx.Err() == nil {
		stay, leave := context.WithCancel(ctx)
		if c.comes {
			stay, leave = context.WithTimeout(ctx, time.Second/2)
		}
		if body, err := t.stream(stay, over, "v1", from); err == nil {
			if c.reads {
				_, _ = io.Copy(io.Discard, body) // until it leaves
			}
			<-stay.Done()
			body.Close()
		}
		leave()
	}
}

// slowTime is how long each of the steps with companions lasts.
const slowTime = 10 * time.Second

// besides measures what one watcher gets that reads, beside a companion.
func besides(beside companion, perSecond int) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		rv, err := listRevision(t)
		if err != nil {
			return measurement{}, err
		}
		from := "&resourceVersion=" + rv
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var running sync.WaitGroup
		running.Go(func() { beside.run(ctx, t, from) })
		m, err := delivered(ctx, c, t, delivery{rv: rv, watchers: 1, updates: perSecond * int(slowTime/time.Second), every: time.Second / time.Duration(perSecond)})
		cancel()
		running.Wait()
		return m, err
	}
}

// delivery is so many updates, one in every so long, and who watches them.
type delivery struct {
	rv                string
	watchers, updates int
	every             time.Duration
	padding           string
}

// delivered measures how long updates take to those who watch.
func delivered(ctx context.Context, c config, t *target, d delivery) (measurement, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watchers{t: t, version: "v1", query: "&resourceVersion=" + d.rv, want: d.updates, sent: make([]atomic.Int64, d.updates)}
	done, err := w.open(ctx, d.watchers)
	if err != nil {
		return measurement{}, err
	}
	used, start := t.usage(), time.Now()
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	var writing sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range d.updates {
		<-tick.C
		writing.Go(func() {
			w.sent[i].Store(time.Now().UnixNano())
			patch := `{"metadata":{"annotations":{"bench/pad":"` + d.padding + `","bench/seq":"` + strconv.Itoa(i) + "." + strconv.FormatInt(start.UnixNano(), 10) + `"}}}`
			err := t.ok("PATCH", workload.Path("v1", i%c.objects), merge, jsonType, []byte(patch))
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	writing.Wait()
	select {
	case <-done:
	case <-time.After(deliveryTimeout):
	}
	took, cpu := time.Since(start), t.usage().cpu-used.cpu
	cancel()
	<-done
	m := summarize(w.latencies, took, cpu)
	m.Errors = int64(d.watchers*d.updates) - m.Ops
	return m, failed
}

// stopped has 20 watchers read events of 100 KB, first alone, and then beside 20 that read
// nothing for a minute, and then everything.
func stopped(c config, t *target) (measurement, error) {
	rv, err := listRevision(t)
	if err != nil {
		return measurement{}, err
	}
	d := delivery{rv: rv, watchers: 20, updates: 200, every: 100 * time.Millisecond, padding: strings.Repeat("x", 100<<10)}
	alone, err := delivered(context.Background(), c, t, d)
	if err != nil {
		return measurement{}, err
	}
	if d.rv, err = listRevision(t); err != nil {
		return measurement{}, err
	}
	over := streams()
	defer over.CloseIdleConnections()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rest := t.settled()
	var all []io.ReadCloser
	for range d.watchers {
		body, err := t.stream(ctx, over, "v1", "&resourceVersion="+d.rv)
		if err != nil {
			return measurement{}, err
		}
		all = append(all, body)
	}
	d.updates = 600 // a minute
	m, err := delivered(ctx, c, t, d)
	if err != nil {
		return measurement{}, err
	}
	held := t.settled() - rest
	whole := 0
	for _, body := range all {
		r := bufio.NewReaderSize(body, 1<<20)
		n := 0
		for ; n < d.updates; n++ {
			if _, err := r.ReadBytes('\n'); err != nil {
				break
			}
		}
		if n == d.updates {
			whole++
		}
	}
	m.Note = fmt.Sprintf("p99 %.0f ms, alone %.0f; %d of %d have all when they read again; memory rose by %.0f MB, with what history took", m.P99, alone.P99, whole, len(all), held)
	return m, nil
}
