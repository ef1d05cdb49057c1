package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/wasmgate/wasmgate/test/harness"
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
	kinds []*histKind
	next  atomic.Int64
	// acknowledged is the last revision of a write that was.
	acknowledged atomic.Int64
	// stop is closed when the clients are to end.
	stop chan struct{}

	mu sync.Mutex
	// went is closed with the next operation that is noted.
	went chan struct{}
	ops  []porcupine.Operation
	// told is what replies said of single objects, lists what lists said, both
	// by letter of the kind.
	told  map[string][]histEvent
	lists map[string][]histList
	// codes counts the replies by their code.
	codes map[int]int
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
	if h.went != nil {
		close(h.went)
		h.went = nil
	}
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// goesOn waits until so many operations more are noted, or there are no more, or ctx ends.
func (h *histRecorder) goesOn(ctx context.Context, n int) {
	for range n {
		h.mu.Lock()
		if h.went == nil {
			h.went = make(chan struct{})
		}
		went := h.went
		h.mu.Unlock()
		select {
		case <-went:
		case <-h.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// tell notes what a reply said of an object.
func (h *histRecorder) tell(k *histKind, name string, s histSeen) {
	rv, err := strconv.ParseInt(s.rv, 10, 64)
	if err != nil {
		h.t.Errorf("%s has the resourceVersion %q", name, s.rv)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[k.letter] = append(h.told[k.letter], histEvent{rv: rv, name: name, value: s.value})
}

// histClient does one thing after the other, at one of the gateways: when that
// one is gone it goes to the next.
type histClient struct {
	h    *histRecorder
	id   int
	apis []*harness.API
	at   int
	rnd  *rand.Rand
	// kind and version are those of what it does now.
	kind    *histKind
	version string
	// seen are the objects that it has read, by name.
	seen map[string]histSeen
	// listed is the revision of its last list of a kind.
	listed map[string]int64
}

// histSeen is an object as it was read.
type histSeen struct{ value, rv string }

// run works until stop is closed.
func (c *histClient) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		c.kind = c.h.kinds[0]
		if c.rnd.IntN(4) == 0 {
			c.kind = c.h.kinds[c.rnd.IntN(len(c.h.kinds))]
		}
		c.version = c.kind.versions[c.rnd.IntN(len(c.kind.versions))]
		n := c.h.next.Add(1)
		c.one(fmt.Sprintf("%s%d-%d", c.kind.letter, n/histRound, c.rnd.IntN(histObjects)), fmt.Sprint("v", n))
	}
}

// one does one thing to the named object; a write gives it this value.
func (c *histClient) one(name, value string) {
	seen, known := c.seen[name]
	in := histInput{name: name, value: value}
	all := c.kind.list(c.version)
	path := all + "/" + name
	switch n := c.rnd.IntN(100); {
	case n < 30:
		c.read(name, path)
	case n < 42:
		c.list(all, []string{histNow, histNow, histAny, histExact, histPages}[c.rnd.IntN(5)])
	case n < 60:
		in.verb = histCreate
		c.write(in, "POST", all, c.kind.body(c.version, name, "", value))
	case n < 75 && known:
		in.verb, in.was = histPut, seen.value
		c.write(in, "PUT", path, c.kind.body(c.version, name, seen.rv, value))
	case n < 92:
		in.verb = histPatch
		c.write(in, "PATCH", path, c.kind.fields(c.version, value))
	default:
		in.verb, in.value = histDelete, ""
		c.write(in, "DELETE", path, nil)
	}
}

// try sends a request. Without a reply the next one goes to another gateway; sent
// is false when nobody can have got it.
func (c *histClient) try(method, path string, body any) (r *harness.Reply, sent bool) {
	kind := "application/json"
	if method == "PATCH" {
		kind = mergePatch
	}
	r, err := c.apis[c.at].Try(method, path, body, "Content-Type", kind)
	if err == nil {
		c.h.mu.Lock()
		c.h.codes[r.Code]++
		c.h.mu.Unlock()
	}
	if err == nil && r.Code < 500 {
		return r, true
	}
	c.at = (c.at + 1) % len(c.apis)
	if err == nil && r.Code != 503 {
		return r, true
	}
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
		out = histOutput{histDone, c.see(name, r)}
	case r.Code < 500:
		c.h.t.Errorf("GET %s: %d %s", path, r.Code, r.Body)
	}
	c.h.done(c.id, call, histInput{verb: histRead, name: name}, out)
}

// see notes the object of a reply, and returns its value.
func (c *histClient) see(name string, r *harness.Reply) string {
	o, err := readSeen(r.Body)
	if err != nil || o.Metadata.Name != name {
		c.h.t.Errorf("for %s there came %s", name, r.Body)
	}
	s := histSeen{o.value(c.kind, c.version), o.Metadata.ResourceVersion}
	c.seen[name] = s
	c.h.tell(c.kind, name, s)
	return s.value
}

func readSeen(body []byte) (o histObject, err error) { return o, json.Unmarshal(body, &o) }

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
		if in.verb == histDelete {
			break
		}
		if got := c.see(in.name, r); got != in.value {
			c.h.t.Errorf("%s %s of %s: the reply has %s", method, path, in.value, got)
		}
		c.acknowledged(c.seen[in.name].rv)
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

// acknowledged notes the revision of a write: lists that are asked for from now
// on must include it.
func (c *histClient) acknowledged(rv string) {
	n, _ := strconv.ParseInt(rv, 10, 64)
	for {
		last := c.h.acknowledged.Load()
		if n <= last || c.h.acknowledged.CompareAndSwap(last, n) {
			return
		}
	}
}
