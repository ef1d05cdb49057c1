package filter

import (
	"context"
	"slices"
	"strings"
	"testing"

	fcv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
)

// seats is flow control in which ann has so many, and nobody waits.
type seats struct{ control *flow.Control }

func (s seats) Control() *flow.Control { return s.control }

func seatsOf(n int) seats {
	shares, none := int32(1_000_000), int32(0)
	c := flow.New(n)
	c.Update([]*fcv1.FlowSchema{{ObjectMeta: metav1.ObjectMeta{Name: "anns", UID: "s"}, Spec: fcv1.FlowSchemaSpec{
		PriorityLevelConfiguration: fcv1.PriorityLevelConfigurationReference{Name: "anns"}, MatchingPrecedence: 10,
		Rules: []fcv1.PolicyRulesWithSubjects{{
			Subjects:         []fcv1.Subject{{Kind: fcv1.SubjectKindUser, User: &fcv1.UserSubject{Name: "ann"}}},
			ResourceRules:    []fcv1.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}, ClusterScope: true}},
			NonResourceRules: []fcv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
		}},
	}}}, []*fcv1.PriorityLevelConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "anns", UID: "l"}, Spec: fcv1.PriorityLevelConfigurationSpec{
		Type: fcv1.PriorityLevelEnablementLimited, Limited: &fcv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: &shares, BorrowingLimitPercent: &none, LimitResponse: fcv1.LimitResponse{Type: fcv1.LimitResponseTypeReject},
		}}}})
	return seats{c}
}

// Whatever is answered here takes a seat until it is answered; a watch until it has sent
// what it begins with, and what lasts or is answered elsewhere takes none for longer.
func TestWait(t *testing.T) {
	call := calls(t)
	stream := func(context.Context, reply.FrameWriter) {}
	for name, c := range map[string]struct {
		method, path string
		resp         reply.Response
		takes, keeps bool
	}{
		"a get":              {"GET", "/api/v1/namespaces/a/pods/x", reply.Response{}, true, true},
		"a path":             {"GET", "/healthz", reply.Response{}, true, true},
		"a watch":            {"GET", "/api/v1/pods?watch=1", reply.Response{Stream: stream}, true, true},
		"a watch, refused":   {"GET", "/api/v1/pods?watch=1", reply.Response{}, true, false},
		"a log":              {"GET", "/api/v1/namespaces/a/pods/x/log", reply.Response{}, false, false},
		"a connection":       {"POST", "/api/v1/namespaces/a/pods/x/exec", reply.Response{}, false, false},
		"another's":          {"GET", "/apis/metrics.k8s.io/v1/nodes", reply.Response{}, true, false},
		"a watch of another": {"GET", "/apis/metrics.k8s.io/v1/nodes?watch=1", reply.Response{Stream: stream}, true, false},
	} {
		s := seatsOf(1)
		full := func() bool {
			other := call("GET", "/api/v1/namespaces/a/pods/x")
			resp, passed := passing(t, wait(s), other, &reply.Response{Code: 200})
			other.Seat.Leave()
			if !passed && (resp.Code != 429 || string(resp.Body) != "Too many requests, please try again later.\n" || !slices.Contains(resp.Headers, reply.Header{Name: "Retry-After", Value: "1"})) {
				t.Errorf("refused with %d %s %v", resp.Code, resp.Body, resp.Headers)
			}
			return !passed
		}
		x := call(c.method, c.path)
		resp := wait(s)(func(context.Context, *api.Call) *reply.Response {
			if full() != c.takes {
				t.Errorf("%s takes a seat: %v", name, !c.takes)
			}
			return &c.resp
		})(t.Context(), x)
		if full() != c.keeps {
			t.Errorf("%s keeps its seat: %v", name, !c.keeps)
		}
		if x.Seat.Leave(); full() {
			t.Errorf("%s never leaves", name)
		}
		said := slices.Equal(resp.Headers, []reply.Header{{Name: "X-Kubernetes-PF-PriorityLevel-UID", Value: "l"}, {Name: "X-Kubernetes-PF-FlowSchema-UID", Value: "s"}})
		if said != c.takes {
			t.Errorf("%s: %v", name, resp.Headers)
		}
		if n := s.control.Watches(&authz.Attributes{Resource: "pods"}); n != map[bool]int{true: 1}[strings.HasPrefix(c.path, "/api/v1/pods?watch")] {
			t.Errorf("%s: %d watches of pods are known", name, n)
		}
	}
	if _, passed := passing(t, wait(nil), call("GET", "/healthz"), nil); !passed {
		t.Error("without flow control nothing goes on")
	}
}

// Writes take seats by who is told of them, and nothing else does.
func TestWork(t *testing.T) {
	call, s := calls(t), seatsOf(100)
	for range 40 {
		var w flow.Watching
		s.control.Watch(&w, &authz.Attributes{Resource: "pods"})
		var x flow.Watching
		s.control.Watch(&x, &authz.Attributes{Resource: "serviceaccounts"})
	}
	for request, writes := range map[string]bool{
		"POST /api/v1/namespaces/a/pods": true, "PUT /api/v1/namespaces/a/pods/x": true, "DELETE /api/v1/namespaces/a/pods/x": true,
		"DELETE /api/v1/namespaces/a/pods": false, "GET /api/v1/namespaces/a/pods/x": false, "GET /api/v1/pods": false, "GET /api/v1/pods?watch=1": false,
		"POST /api/v1/namespaces/a/serviceaccounts/x/token": false, "PUT /api/v1/namespaces/a/serviceaccounts/x": true, "POST /apis/metrics.k8s.io/v1/pods": false, "POST /other": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		c := call(method, path)
		a := c.Info.Attributes(c.User)
		w := work(s.control, s.control.Classify(&a), c, &a)
		if w.Writes != writes || (w.Seats > 1) != writes || w.Watch != strings.Contains(path, "watch") || w.Wait != mostWait/4 {
			t.Errorf("%s: %+v", request, w)
		}
	}
}

// What is answered and not stored takes seats by what is sent: where the head does not
// say how much that is, as many as there are for one.
func TestReviewsTakeSeatsByTheirSize(t *testing.T) {
	call, s := calls(t), seatsOf(100)
	const reviews = "/apis/wasmgate.dev/v1/conversionreviews"
	for _, c := range []struct {
		path         string
		bytes, seats int
	}{
		{reviews, 0, 1}, {reviews, 100_000, 1}, {reviews, 100_001, 2}, {reviews, 450_000, 5}, {reviews, 50_000_000, 10}, {reviews, -1, 10},
		{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 1000, 1}, {"/api/v1/namespaces/a/pods", 450_000, 1}, {"/other", 450_000, 1},
	} {
		x := call("POST", c.path)
		x.BodyLength = c.bytes
		a := x.Info.Attributes(x.User)
		if w := work(s.control, s.control.Classify(&a), x, &a); w.Seats != c.seats {
			t.Errorf("%d bytes to %s take %d seats, want %d", c.bytes, c.path, w.Seats, c.seats)
		}
	}
}
