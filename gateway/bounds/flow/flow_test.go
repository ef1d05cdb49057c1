package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

var (
	allSchemas = slices.Concat(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas)
	allLevels  = slices.Concat(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations)
)

// user asks for a pod.
func user(name string, groups ...string) *authz.Attributes {
	return &authz.Attributes{
		User: &authn.User{Name: name, Groups: append(groups, authn.AllAuthenticated)}, ResourceRequest: true,
		Verb: "get", Version: "v1", Resource: "pods", Namespace: "default", Name: "one", Path: "/api/v1/namespaces/default/pods/one",
	}
}

func TestRequestsFallUnderKubernetesSchemas(t *testing.T) {
	c := New(600)
	c.Update(allSchemas, allLevels)
	leases := user("system:kube-scheduler")
	leases.Verb, leases.Group, leases.Resource, leases.Namespace = "update", "coordination.k8s.io", "leases", "kube-system"
	status := user("system:node:n1", authn.AllNodes)
	status.Verb, status.Resource, status.Subresource, status.Namespace = "patch", "nodes", "status", ""
	health := &authz.Attributes{User: authn.AnonymousUser(), Verb: "get", Path: "/healthz"}
	below := &authz.Attributes{User: authn.AnonymousUser(), Verb: "get", Path: "/livez/etcd"}
	for want, a := range map[string]*authz.Attributes{
		"exempt exempt":                              user("admin", authn.Masters),
		"global-default global-default":              user("bob"),
		"service-accounts workload-low":              user("system:serviceaccount:a:b", "system:serviceaccounts"),
		"kube-controller-manager workload-high":      user("system:kube-controller-manager"),
		"system-leader-election leader-election":     leases,
		"system-node-high node-high":                 status,
		"system-nodes system":                        user("system:node:n1", authn.AllNodes),
		"probes exempt":                              health,
		"catch-all catch-all":                        {User: authn.AnonymousUser(), Verb: "get", Path: "/metricsx"},
		"kube-system-service-accounts workload-high": user("system:serviceaccount:kube-system:x", "system:serviceaccounts"),
	} {
		schema, level := c.Classify(a).Names()
		if got := schema + " " + level; got != want && !(schema == "global-default" && a.Path == "/metricsx") {
			t.Errorf("%s of %s: %s, want %s", a.Verb, a.User.Name, got, want)
		}
	}
	if s, _ := c.Classify(below).Names(); s != "probes" {
		t.Errorf("a single check is of %s", s)
	}
}

// one makes a Control whose bob and ann share a level of so many seats.
func one(seats, queues, length int32) *Control {
	level := &fcv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: fcv1.PriorityLevelConfigurationSpec{
		Type: fcv1.PriorityLevelEnablementLimited, Limited: &fcv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr(int32(1_000_000)), BorrowingLimitPercent: ptr(int32(0)), LimitResponse: fcv1.LimitResponse{Type: fcv1.LimitResponseTypeReject},
		}}}
	if queues > 0 {
		level.Spec.Limited.LimitResponse = fcv1.LimitResponse{Type: fcv1.LimitResponseTypeQueue, Queuing: &fcv1.QueuingConfiguration{Queues: queues, HandSize: 6, QueueLengthLimit: length}}
	}
	schema := &fcv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: fcv1.FlowSchemaSpec{
		PriorityLevelConfiguration: fcv1.PriorityLevelConfigurationReference{Name: "l"}, MatchingPrecedence: 10,
		DistinguisherMethod: &fcv1.FlowDistinguisherMethod{Type: fcv1.FlowDistinguisherMethodByUserType},
		Rules: []fcv1.PolicyRulesWithSubjects{{
			Subjects:      []fcv1.Subject{{Kind: fcv1.SubjectKindGroup, Group: &fcv1.GroupSubject{Name: authn.AllAuthenticated}}},
			ResourceRules: []fcv1.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}}},
		}},
	}}
	c := New(int(seats))
	c.Update([]*fcv1.FlowSchema{schema}, []*fcv1.PriorityLevelConfiguration{level})
	return c
}

func ptr[T any](v T) *T { return &v }

// A user who floods a level takes no turns from another: each has half of what there
// is, however many requests each has waiting.
func TestFlowsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(4, 64, 1000)
		var mu sync.Mutex
		done := map[string]int{}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var all sync.WaitGroup
		for name, clients := range map[string]int{"noisy": 200, "quiet": 8} {
			class := c.Classify(user(name))
			for range clients {
				all.Go(func() {
					for ctx.Err() == nil {
						var s Seat
						if err := c.Enter(ctx, &s, class, Work{Seats: 1}); err != nil {
							continue
						}
						<-time.After(10 * time.Millisecond) // its work
						s.Leave()
						mu.Lock()
						done[name]++
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		// The noisy one has several queues, and the quiet one fewer: none starves.
		if sum := done["noisy"] + done["quiet"]; sum < 3900 || done["quiet"] < sum/4 {
			t.Errorf("served %v", done)
		}
		idle(t, c)
	})
}

// idle fails unless nobody has anything.
func idle(t *testing.T, c *Control) {
	t.Helper()
	for name, l := range c.levels {
		if l.seats != 0 || l.wanted != 0 || l.executing != 0 || l.waiting != 0 || l.active != 0 {
			t.Errorf("level %s: %d seats, %d wanted, %d executing, %d waiting, %d active", name, l.seats, l.wanted, l.executing, l.waiting, l.active)
		}
		for _, q := range l.queues {
			if !q.idle() || q.work() != 0 {
				t.Errorf("level %s: a queue has %d and %d", name, q.executing, q.work())
			}
		}
	}
}

func TestWhoDoesNotFitIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			c    *Control
			want Refusal
			take time.Duration
		}{{one(2, 0, 0), NoSeats, 0}, {one(2, 1, 1), TimeOut, time.Second}} {
			class := x.c.Classify(user("bob"))
			var first, second Seat
			if err := errors.Join(x.c.Enter(t.Context(), &first, class, Work{Seats: 1}), x.c.Enter(t.Context(), &second, class, Work{Seats: 1})); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			var third Seat
			if err := x.c.Enter(ctx, &third, class, Work{Seats: 1}); err != x.want || time.Since(began) != x.take {
				t.Errorf("got %v after %v, want %v", err, time.Since(began), x.want)
			}
			first.Leave()
			first.Leave()
			if err := x.c.Enter(t.Context(), &third, class, Work{Seats: 1}); err != nil {
				t.Error(err)
			}
			third.Leave()
			second.Leave()
			idle(t, x.c)
		}
	})
}

func TestAFullQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(1, 1, 1)
		class := c.Classify(user("bob"))
		var first, second, third Seat
		if err := c.Enter(t.Context(), &first, class, Work{}); err != nil {
			t.Fatal(err)
		}
		entered := make(chan error)
		go func() { entered <- c.Enter(t.Context(), &second, class, Work{}) }()
		synctest.Wait()
		if err := c.Enter(t.Context(), &third, class, Work{}); err != QueueFull {
			t.Errorf("got %v", err)
		}
		first.Leave()
		if err := <-entered; err != nil {
			t.Error(err)
		}
		second.Leave()
		idle(t, c)
	})
}

// A large list waits until there is room for it, and those who come later behind it;
// the seats of a write stay taken while watches are sent it.
func TestSeatsAreWeighed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(4, 8, 50)
		class := c.Classify(user("bob"))
		var write Seat
		if err := c.Enter(t.Context(), &write, class, Work{Seats: 2, After: time.Second}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		write.Leave()
		var list Seat
		if err := c.Enter(t.Context(), &list, class, Work{Seats: 9}); err != nil || time.Since(began) != time.Second {
			t.Errorf("entered after %v: %v", time.Since(began), err)
		}
		list.Leave()
		idle(t, c)
	})
}

// What a level does not need, others have, as far as they may; it gets its own back.
func TestSeatsAreLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(600)
		c.Update(allSchemas, allLevels)
		limits := func() map[string]int {
			out := map[string]int{}
			for name, l := range c.levels {
				out[name] = l.limit
			}
			return out
		}
		low := c.levels["workload-low"]
		class := c.Classify(user("system:serviceaccount:a:b", "system:serviceaccounts"))
		if low.nominal != 245 || low.min != 24 && low.min != 25 || low.max != 600 {
			t.Errorf("nominal %d, from %d to %d", low.nominal, low.min, low.max)
		}
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var inside []*Seat
		var mu sync.Mutex
		for range 1000 {
			all.Go(func() {
				s := &Seat{}
				if c.Enter(ctx, s, class, Work{}) == nil {
					mu.Lock()
					defer mu.Unlock()
					inside = append(inside, s)
				}
			})
		}
		synctest.Wait()
		before := len(inside)
		lending, end := context.WithTimeout(t.Context(), 20*adjustEvery+time.Second)
		defer end()
		c.Run(lending)
		synctest.Wait()
		if now := limits(); now["workload-low"] <= before || len(inside) < 300 || now["workload-high"] < c.levels["workload-high"].min || now["catch-all"] < c.levels["catch-all"].min {
			t.Errorf("%d are in, before %d: %v", len(inside), before, now)
		}
		sum := 0
		for _, n := range limits() {
			sum += n
		}
		if sum > 620 {
			t.Errorf("%d seats: %v", sum, limits())
		}
		stop()
		all.Wait()
		for _, s := range inside {
			s.Leave()
		}
		idle(t, c)
	})
}

// Requests and changes of all objects at once leave nothing behind.
func TestFlowControlHammer(t *testing.T) {
	c := one(3, 16, 4)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%5)*100*time.Microsecond)
				var s Seat
				if c.Enter(ctx, &s, c.Classify(user(fmt.Sprint("u", i%5))), Work{Seats: 1 + n%3}) == nil && n%7 == 0 {
					<-ctx.Done()
				}
				s.Leave()
				cancel()
			}
		})
	}
	all.Go(func() {
		for range 50 {
			c.Lend()
			c.Update(allSchemas, allLevels)
		}
	})
	all.Wait()
	idle(t, c)
}

func BenchmarkFlow(b *testing.B) {
	c := New(600)
	c.Update(allSchemas, allLevels)
	for name, a := range map[string]*authz.Attributes{"exempt": user("admin", authn.Masters), "limited": user("bob")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s Seat
				if err := c.Enter(b.Context(), &s, c.Classify(a), Work{Seats: 1}); err != nil {
					b.Fatal(err)
				}
				s.Leave()
			}
		})
	}
}
