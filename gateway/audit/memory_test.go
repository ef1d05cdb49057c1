package audit

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// What waits for a server that does not answer is bounded by all that clients choose the
// size of: a long path and its query as well as a body, as what they become, too.
func TestWhatWaitsIsBoundedHoweverItIsLarge(t *testing.T) {
	const each = 15 << 10 // about the most that a head may have
	for name, long := range map[string]func() *event{
		"query": func() *event { r := record("x"); r.Request.Query = strings.Repeat("q", each); return &event{record: r} },
		"agent": func() *event {
			r := record("x")
			r.Request.UserAgent = strings.Repeat("u", each)
			return &event{record: r}
		},
		"status": func() *event { r := record("x"); r.Status = make([]byte, each); return &event{record: r} },
		"sent":   func() *event { r := record("x"); r.Sent = make([]byte, each); return &event{record: r} },
	} {
		if n := long().size(); n < 2*each {
			t.Errorf("%s: an event counts for %d bytes", name, n)
		}
	}
	end := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer s.Close()
	defer close(end)
	var c counts
	l, err := Open(Config{Server: &Server{Kubeconfig: kubeconfig(t, s.URL), Backoff: time.Hour, Passing: Passing{Mode: Batch, BufferSize: 1 << 20, MaxSize: 1}}, Metrics: &c})
	if err != nil {
		t.Fatal(err)
	}
	query, sent := strings.Repeat("q", each), 2*maxWaiting/each
	for range sent {
		r := record("x")
		r.Request.Query = query
		l.Audit(r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
	if wait := sent - c.lost["buffered"]; wait*2*each > maxWaiting || wait < maxWaiting/each/4 {
		t.Errorf("%d of %d wait", wait, sent)
	}
}

// A list is put together while it is sent, not in memory, however often that fails.
func TestAListIsNotOneText(t *testing.T) {
	const each, count = 1 << 20, 64
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n != r.ContentLength || n < each*count {
			t.Errorf("%d bytes of %d, %v", n, r.ContentLength, err)
		}
		if calls.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	to, err := (&Server{Kubeconfig: kubeconfig(t, s.URL), Backoff: time.Millisecond}).open()
	if err != nil {
		t.Fatal(err)
	}
	one := []byte(`"` + strings.Repeat("a", each) + `"`)
	events := make([][]byte, count)
	for i := range events {
		events[i] = one
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := to.send(t.Context(), events)
	runtime.ReadMemStats(&after)
	if n != count || err != nil || calls.Load() != 3 {
		t.Errorf("%d, %v, %d calls", n, err, calls.Load())
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > each*count/4 {
		t.Errorf("sending %d MB made %d MB of memory", each*count>>20, took>>20)
	}
}

// The text of a list is JSON, of one event and of several.
func TestTheTextOfAList(t *testing.T) {
	text, err := (&event{record: record("x")}).json()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 4; n++ {
		l := make(list, n)
		for i := range l {
			l[i] = text
		}
		for range 2 { // again, as for who is sent it once more
			body, err := l.open()
			if err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(body)
			var got auditv1.EventList
			if err != nil || json.Unmarshal(all, &got) != nil || len(got.Items) != n || int64(len(all)) != l.length() {
				t.Errorf("%d: %v, %d items, %d bytes of %d", n, err, len(got.Items), len(all), l.length())
			}
		}
	}
}

// What an event is counted for while it waits is given back when it was passed on, whatever
// became of its record meanwhile.
func TestNothingIsCountedOnceNothingWaits(t *testing.T) {
	var c counts
	out := slow{make(chan struct{}), nil}
	p := newPipe(&file{out: out}, Passing{Mode: Batch, BufferSize: 10, MaxSize: 1}, Config{Metrics: &c})
	first, second := record("first"), record("second")
	for _, r := range []*api.Audit{first, second} {
		p.take(&event{record: r})
	}
	second.Panic = strings.Repeat("x", 1000) // it waits for the first, which the file does not take yet
	close(out.release)
	if err := p.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := p.waiting.Load(); n != 0 || len(c.lost) != 0 {
		t.Errorf("%d bytes wait, lost %v", n, c.lost)
	}
}
