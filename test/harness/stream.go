package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// eventTimeout is how long a watch event that must come may take.
const eventTimeout = 30 * time.Second

// Event is one document of a watch.
type Event struct {
	Type   string `json:"type"`
	Object Object `json:"object"`
}

// String is the event's type, name and resourceVersion, for messages.
func (e Event) String() string {
	return fmt.Sprintf("%s %s@%s", e.Type, e.Object.Str("metadata.name"), e.Object.RV())
}

// Stream is an open watch.
type Stream struct {
	t      testing.TB
	Header http.Header
	// TransferEncoding is the reply's, as the HTTP client read it.
	TransferEncoding []string
	events           chan Event
	err              error
	cancel           context.CancelFunc
}

// Watch opens a watch; path has the query already. It is closed when the test
// ends.
func (a *API) Watch(path string, headers ...string) *Stream {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := a.send(ctx, http.MethodGet, path, nil, headers)
	if err != nil {
		cancel()
		a.t.Fatalf("watch %s: %v", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		cancel()
		a.t.Fatalf("watch %s: %s\n%s", path, resp.Status, b)
	}
	a.t.Cleanup(cancel)
	return a.follow(ctx, cancel, resp)
}

// follow reads a watch.
func (a *API) follow(ctx context.Context, cancel context.CancelFunc, resp *http.Response) *Stream {
	w := &Stream{t: a.t, Header: resp.Header, TransferEncoding: resp.TransferEncoding, events: make(chan Event, 1024), cancel: cancel}
	go w.read(ctx, resp.Body)
	return w
}

func (w *Stream) read(ctx context.Context, body io.ReadCloser) {
	defer close(w.events)
	defer body.Close()
	d := json.NewDecoder(body)
	for {
		var e Event
		if err := d.Decode(&e); err != nil {
			w.err = err
			return
		}
		select {
		case w.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// Next returns the next event, and fails the test when none comes.
func (w *Stream) Next() Event {
	w.t.Helper()
	select {
	case e, ok := <-w.events:
		if !ok {
			w.t.Fatalf("the watch ended: %v", w.err)
		}
		return e
	case <-time.After(eventTimeout):
		w.t.Fatal("no watch event came")
	}
	return Event{}
}

// Expect fails the test unless the next event has this type and name, and
// returns it.
func (w *Stream) Expect(kind, name string) Event {
	w.t.Helper()
	e := w.Next()
	if e.Type != kind || e.Object.Str("metadata.name") != name {
		w.t.Fatalf("watch event %s, want %s %s: %v", e, kind, name, e.Object)
	}
	return e
}

// End reads events until the server closes the watch, and returns them.
func (w *Stream) End() []Event {
	w.t.Helper()
	var all []Event
	for limit := time.After(eventTimeout); ; {
		select {
		case e, ok := <-w.events:
			if !ok {
				if !errors.Is(w.err, io.EOF) {
					w.t.Fatalf("the watch did not end cleanly: %v", w.err)
				}
				return all
			}
			all = append(all, e)
		case <-limit:
			w.t.Fatal("the watch did not end")
		}
	}
}

// Close ends the watch from this side.
func (w *Stream) Close() { w.cancel() }

// Stall opens a watch and does not read what it sends, until it is asked to. It is
// closed when the test ends.
func (a *API) Stall(path string) (read func() *Stream) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a.t.Cleanup(cancel)
	resp, err := a.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		a.t.Fatalf("watch %s: %v", path, err)
	}
	a.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("watch %s: %s", path, resp.Status)
	}
	return func() *Stream { return a.follow(ctx, cancel, resp) }
}
