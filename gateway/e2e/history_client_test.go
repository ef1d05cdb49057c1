package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

// histObjects is how many objects are written to at a time. They are given up
// for others after histRound operations, so that the history of one stays short
// enough to be checked.
const (
	histObjects = 12
	histRound   = 1500
)

// histRecorder is the history of all clients.
type histRecorder struct {
	t     *testing.T
	begun time.Time
	ns    string
	next  atomic.Int64

	mu  sync.Mutex
	ops []porcupine.Operation
}

func (h *histRecorder) now() int64 { return int64(time.Since(h.begun)) }

// done adds an operation. One without an outcome stays under way for ever; what
// a read without one would have said does not matter.
func (h *histRecorder) done(client int, call int64, in histInput, out histOutput) {
	end := h.now()
	if out.outcome == histUnknown {
		if end = never; in.verb == histRead {
			return
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// histClient does one thing after the other, at one of the gateways: when that
// one is gone it goes to the next.
type histClient struct {
	h    *histRecorder
	id   int
	apis []*gatewaytest.API
	at   int
	rnd  *rand.Rand
	// seen are the objects that it has read, by name.
	seen map[string]histSeen
}

type histSeen struct{ value, rv string }

// run works until stop is closed.
func (c *histClient) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		n := c.h.next.Add(1)
		c.one(fmt.Sprintf("o%d-%d", n/histRound, c.rnd.IntN(histObjects)), fmt.Sprint("v", n))
	}
}

// one does one thing to the named object; a write gives it this value.
func (c *histClient) one(name, value string) {
	seen, known := c.seen[name]
	in := histInput{name: name, value: value}
	object := func(rv string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":%q},"data":{"v":%q}}`, name, rv, value)
	}
	all := configMaps(c.h.ns)
	path := all + "/" + name
	switch n := c.rnd.IntN(100); {
	case n < 35:
		c.read(name, path)
	case n < 40:
		c.list(all)
	case n < 60:
		in.verb = histCreate
		c.write(in, "POST", all, object(""))
	case n < 75 && known:
		in.verb, in.was = histPut, seen.value
		c.write(in, "PUT", path, object(seen.rv))
	case n < 92:
		in.verb = histPatch
		c.write(in, "PATCH", path, fmt.Sprintf(`{"data":{"v":%q}}`, value))
	default:
		in.verb, in.value = histDelete, ""
		c.write(in, "DELETE", path, nil)
	}
}

// try sends a request. Without a reply the next one goes to another gateway; sent
// is false when nobody can have got it.
func (c *histClient) try(method, path string, body any) (r *gatewaytest.Reply, sent bool) {
	kind := "application/json"
	if method == "PATCH" {
		kind = mergePatch
	}
	r, err := c.apis[c.at].Try(method, path, body, "Content-Type", kind)
	if err == nil && r.Code != 503 {
		return r, true
	}
	c.at = (c.at + 1) % len(c.apis)
	if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
		pause(c.rnd)
		return nil, false
	}
	return nil, true
}

// pause keeps clients from asking all the time for what is not there.
func pause(rnd *rand.Rand) {
	t := time.NewTimer(time.Duration(5+rnd.IntN(20)) * time.Millisecond)
	defer t.Stop()
	<-t.C
}

func (c *histClient) read(name, path string) {
	call := c.h.now()
	r, _ := c.try("GET", path, nil)
	out := histOutput{outcome: histUnknown}
	switch {
	case r == nil:
	case r.Code == 404:
		out.outcome = histMissing
		delete(c.seen, name)
	case r.Code == 200:
		s, _ := readSeen(r.Body)
		c.seen[name] = s
		out = histOutput{histDone, s.value}
	}
	c.h.done(c.id, call, histInput{verb: histRead, name: name}, out)
}

func readSeen(body []byte) (histSeen, string) {
	var o struct {
		Metadata struct{ Name, ResourceVersion string }
		Data     struct{ V string }
	}
	_ = json.Unmarshal(body, &o) // what cannot be read is no value that was written
	return histSeen{o.Data.V, o.Metadata.ResourceVersion}, o.Metadata.Name
}

// list reads all objects at once, and that others are not there.
func (c *histClient) list(all string) {
	call := c.h.now()
	r, _ := c.try("GET", all, nil)
	if r == nil || r.Code != 200 {
		return
	}
	var l struct{ Items []json.RawMessage }
	if err := json.Unmarshal(r.Body, &l); err != nil {
		c.h.t.Error(err)
	}
	found := map[string]string{}
	for _, item := range l.Items {
		s, name := readSeen(item)
		c.seen[name], found[name] = s, s.value
	}
	round := (c.h.next.Load() - 1) / histRound
	for i := range histObjects {
		name := fmt.Sprintf("o%d-%d", round, i)
		out := histOutput{histMissing, ""}
		if value, ok := found[name]; ok {
			out = histOutput{histDone, value}
		}
		c.h.done(c.id, call, histInput{verb: histRead, name: name}, out)
	}
}

// write does a write. A 5xx may come after it was done, and while it still may be.
func (c *histClient) write(in histInput, method, path string, body any) {
	call := c.h.now()
	r, sent := c.try(method, path, body)
	if !sent {
		return
	}
	out := histOutput{outcome: histUnknown}
	switch {
	case r == nil || r.Code >= 500:
	case r.Code == 200 || r.Code == 201:
		out.outcome = histDone
	case r.Code == 404:
		out.outcome = histMissing
	case r.Code == 409 && in.verb == histCreate:
		out.outcome = histExists
	case r.Code == 409 && in.verb == histPut:
		out.outcome = histConflict
	case r.Code == 409 && slices.Contains([]string{histPatch, histDelete}, in.verb):
		return // it gave up, because others were always faster
	default:
		c.h.t.Errorf("%s %s: %d %s", method, path, r.Code, r.Body)
	}
	c.h.done(c.id, call, in, out)
}
