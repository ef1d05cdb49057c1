package api

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
)

// seats is flow control in which bob has so many seats, and nobody waits.
type seats struct{ control *flow.Control }

// Control implements the filters' interface.
func (s seats) Control() *flow.Control { return s.control }

func newSeats(n int) seats {
	shares, none := int32(1_000_000), int32(0)
	c := flow.New(n)
	c.Update([]*fcv1.FlowSchema{{ObjectMeta: metav1.ObjectMeta{Name: "bobs"}, Spec: fcv1.FlowSchemaSpec{
		PriorityLevelConfiguration: fcv1.PriorityLevelConfigurationReference{Name: "bobs"}, MatchingPrecedence: 10,
		Rules: []fcv1.PolicyRulesWithSubjects{{
			Subjects:      []fcv1.Subject{{Kind: fcv1.SubjectKindUser, User: &fcv1.UserSubject{Name: "bob"}}},
			ResourceRules: []fcv1.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}, ClusterScope: true}},
		}},
	}}}, []*fcv1.PriorityLevelConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "bobs"}, Spec: fcv1.PriorityLevelConfigurationSpec{
		Type: fcv1.PriorityLevelEnablementLimited, Limited: &fcv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: &shares, BorrowingLimitPercent: &none, LimitResponse: fcv1.LimitResponse{Type: fcv1.LimitResponseTypeReject},
		}}}})
	return seats{c}
}

// controlled has requests wait for seats, and everybody do everything.
func controlled(s seats) func(*Setup) {
	return func(c *Setup) { c.Flow, c.Authorizer, c.MaxBodyBytes = s, trusting{}, 1<<20 }
}

const bob = "Authorization: Bearer bob"

// A watch has its seat until it has sent what it begins with, and no longer.
func TestAWatchHasASeatUntilItHasBegun(t *testing.T) {
	w := newWorld(t, controlled(newSeats(1)))
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	for _, query := range []string{"?watch=1", "?watch=1&resourceVersion=0&labelSelector=a%3Db", "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"} {
		resp := w.Serve(request("GET", widgets+query, "", bob))
		if resp.Stream == nil {
			t.Fatalf("%s: %d", query, resp.Code)
		}
		w.do("GET", widgets+"/one", "", bob).want(429, "")
		ctx, leave := context.WithCancel(t.Context())
		sent, done := &flushed{told: make(chan struct{}, 100)}, make(chan struct{})
		go func() {
			defer close(done)
			resp.Stream(ctx, sent)
		}()
		for w.Serve(request("GET", widgets+"/one", "", bob)).Code == 429 {
			<-sent.told // there is more to come, or it has begun
		}
		leave()
		<-done
		w.do("GET", widgets+"/one", "", bob).want(200, "")
	}
	// One that never begins gives it back, too.
	w.do("GET", widgets+"?watch=1&resourceVersion=nonsense", "", bob).want(400, "")
	resp := w.Serve(request("GET", widgets+"?watch=1", "", bob))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	resp.Stream(ctx, nowhere{})
	w.do("GET", widgets+"/one", "", bob).want(200, "")
}

// A client that reads nothing of what its watch begins with does not keep others waiting.
func TestAWatchThatNobodyReadsHasNoSeat(t *testing.T) {
	w := newWorld(t, controlled(newSeats(1)))
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	resp := w.Serve(request("GET", widgets+"?watch=1", "", bob))
	w.do("GET", widgets+"/one", "", bob).want(429, "")
	ctx, leave := context.WithCancel(t.Context())
	out, done := &unread{full: make(chan struct{}), read: make(chan struct{})}, make(chan struct{})
	go func() {
		defer close(done)
		resp.Stream(ctx, out)
	}()
	<-out.full
	for deadline := time.Now().Add(patience); w.Serve(request("GET", widgets+"/one", "", bob)).Code == 429; runtime.Gosched() {
		if time.Now().After(deadline) { // it may yet read, and nobody waits for that for long
			t.Fatal("it has its seat as long as it likes")
		}
	}
	if !out.keep() {
		t.Error("the watch is over")
	}
	w.do("GET", widgets+"/one", "", bob).want(200, "")
	close(out.read)
	leave()
	<-done
	w.do("GET", widgets+"/one", "", bob).want(200, "")
}

// A client that reads its list slowly keeps others waiting no longer than a moment.
func TestASlowReaderHasNoSeat(t *testing.T) {
	w := newWorld(t, controlled(newSeats(1)))
	w.do("POST", widgets, a("one", `"size":1,"text":"`+strings.Repeat("x", 100<<10)+`"`)).want(201, "")
	var unread []*reply.Response
	deadline := time.Now().Add(patience)
	for len(unread) < 3 {
		resp := w.Serve(request("GET", widgets, "", bob))
		switch {
		case resp.Code == 200 && resp.Done != nil:
			unread = append(unread, resp)
		case resp.Code != 429 || time.Now().After(deadline):
			t.Fatalf("%d beside %d that are not read", resp.Code, len(unread))
		}
	}
	unread[2].Done()
	w.do("GET", widgets+"/one", "", bob).want(200, "")
	for _, resp := range unread { // long after they lost their seats
		resp.Done()
	}
	w.do("GET", widgets+"/one", "", bob).want(200, "")
}

// unread is a client whose socket is full once its watch begins, until it reads.
type unread struct {
	flushed
	flushes    int
	full, read chan struct{}
	keep       func() bool
}

func (u *unread) Hold(keep func() bool) { u.keep = keep }

func (u *unread) Flush() error {
	if u.flushes++; u.flushes == 2 { // the head is sent alone
		close(u.full)
		<-u.read
	}
	return nil
}

// flushed tells when something is sent.
type flushed struct{ told chan struct{} }

func (f *flushed) Write(p []byte) (int, error) { return len(p), nil }

func (*flushed) Frame(_, _ []byte, _ string) {}

func (*flushed) Hold(func() bool) {}

func (f *flushed) Flush() error {
	select {
	case f.told <- struct{}{}:
	default:
	}
	return nil
}

// Lists take seats by what they are made of.
func TestSeatsOfRequests(t *testing.T) {
	s := newSeats(100) // 15 for one request at most
	w := newWorld(t, controlled(s))
	for _, name := range []string{"one", "two", "three", "four"} {
		w.do("POST", widgets, a(name, `"size":1`)).want(201, "")
		w.do("PATCH", widgets+"/"+name, `{"metadata":{"annotations":{"a":"`+strings.Repeat("x", 150_000)+`"}}}`, "Content-Type: application/merge-patch+json").want(200, "")
	}
	w.do("GET", widgets, "").want(200, "") // so that the cache has them
	taken := func(target string) int {
		t.Helper()
		r := request("GET", target, "", bob)
		c := &Call{Request: r}
		c.Classify(&w.Routes)
		work := flow.Work{Seats: 1}
		info := c.Info.Attributes(&authn.User{Name: "bob"})
		s.control.List(&work, s.control.Classify(&info), c.Lists())
		return work.Seats
	}
	for target, want := range map[string]int{
		widgets: 7, widgets + "?limit=1": 2, widgets + "?limit=3": 5, widgets + "?limit=x": 7, widgets + "?fieldSelector=metadata.name%3Done": 2,
		widgets + "/one": 1, widgets + "?watch=1": 7, widgets + "?watch=1&resourceVersion=5": 1, widgets + "?watch=1&resourceVersion=5&sendInitialEvents=true": 7,
		"/apis/example.com/v1/widgets": 7, "/apis/example.com/v1/namespaces/other/widgets": 1, "/apis/example.com/v1/nothing": 1, "/version": 1,
	} {
		if n := taken(target); n != want {
			t.Errorf("%s takes %d seats, want %d", target, n, want)
		}
	}
}
