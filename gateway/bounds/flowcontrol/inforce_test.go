package flowcontrol_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	fcv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds/flowcontrol"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// servedBy are the kind's parts over a running engine, where these kinds are served.
func servedBy(t *testing.T, e *realengine.Engine, on bool, of ...string) kinds.Served {
	t.Helper()
	c := kinds.Config{Log: zerolog.Nop(), Metrics: metrics.New(), Options: options.Serve{PriorityAndFairness: on, MaxRequestsInFlight: 400, MaxMutatingRequestsInFlight: 200}}
	all := builtintest.Definitions(t)
	for _, name := range of {
		c.Definitions = append(c.Definitions, all[name])
	}
	s, err := flowcontrol.Kind(c).Serve(e.Verbs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Which requests wait is by the objects that are stored, as soon as they are. Who looks
// for a fault sees it.
func TestObjectsAreInForce(t *testing.T) {
	e := realengine.Start(t)
	s := servedBy(t, e, true, "flowschema", "prioritylevelconfiguration")
	if len(s.Starts) != 2 || len(s.Debug) != 1 || len(s.Controllers()) != 1 {
		t.Fatalf("%d starts, %d documents", len(s.Starts), len(s.Debug))
	}
	if err := s.Starts[1].Run(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	class := func(want string) {
		t.Helper()
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := &authz.Attributes{User: &authn.User{Name: "ann", Groups: []string{"system:authenticated"}}, Verb: "get", Resource: "pods", Version: "v1", ResourceRequest: true}
		schema, level := s.Flow.Control().Classify(a).Names()
		if got := schema + " " + level; got != want {
			t.Errorf("it is of %s, want %s", got, want)
		}
	}
	class("global-default global-default")
	mine := schemaOf("mine", "exempt")
	mine["spec"].(tree)["rules"] = []any{tree{"subjects": []any{tree{"kind": "User", "user": tree{"name": "ann"}}},
		"resourceRules": []any{tree{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": []any{"pods"}, "clusterScope": true, "namespaces": []any{"*"}}}}}
	controllertest.MustCreate(t, e, gvr.FlowSchemas, mine)
	class("mine exempt")
	controllertest.MustChange(t, e, gvr.FlowSchemas, "", "", "mine", func(o *unstructured.Unstructured) {
		o.Object["spec"].(tree)["priorityLevelConfiguration"] = tree{"name": "workload-low"}
	})
	class("mine workload-low")
	controllertest.MustCreate(t, e, gvr.PriorityLevels, tree{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": tree{"name": "new"}, "spec": tree{"type": "Limited", "limited": tree{"limitResponse": tree{"type": "Reject"}}}})
	class("mine workload-low")
	for _, c := range []struct{ method, path, query, want, not string }{
		{"GET", "dump_priority_levels", "", "new,", "Index"},
		{"GET", "dump_queues", "", "workload-low,", "WaitingRequests"},
		{"GET", "dump_requests", "", "FlowSchemaName", "UserName"},
		{"GET", "dump_requests", "includeRequestDetails=1", "UserName", "Odd"},
		{"GET", "dump_requests", "includeRequestDetails=1&%", "FlowSchemaName", "UserName"},
		{"GET", "dump_else", "", "", ""}, {"POST", "dump_requests", "", "", ""},
	} {
		r := s.Debug[0].Serve(t.Context(), &api.Request{Method: c.method, Path: "/debug/api_priority_and_fairness/" + c.path, Query: c.query}, nil)
		if c.want == "" {
			if r != nil {
				t.Errorf("%s %s is answered", c.method, c.path)
			}
			continue
		}
		if r == nil || r.Code != http.StatusOK || r.ContentType != "text/plain; charset=utf-8" || !strings.Contains(string(r.Body), c.want) || strings.Contains(string(r.Body), c.not) {
			t.Errorf("%s?%s: %+v", c.path, c.query, r)
		}
	}
}

// What is served of flow control is as it was asked for, and writes of both kinds wait
// until they are in force.
func TestWhatIsServed(t *testing.T) {
	e := realengine.Start(t)
	for _, c := range []struct {
		on             bool
		of             string
		flow           bool
		starts, debugs int
		controllers    bool
	}{
		{true, "flowschema prioritylevelconfiguration", true, 2, 1, true},
		{false, "flowschema prioritylevelconfiguration", false, 1, 0, true},
		{true, "flowschema", true, 1, 1, false}, {false, "prioritylevelconfiguration", false, 0, 0, false},
	} {
		s := servedBy(t, e, c.on, strings.Fields(c.of)...)
		if (s.Flow != nil) != c.flow || len(s.Starts) != c.starts || len(s.Debug) != c.debugs || (s.Controllers != nil) != c.controllers {
			t.Errorf("%+v: %+v", c, s)
		}
	}
	s := servedBy(t, e, true)
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	if err := s.Starts[0].Run(ctx, "", func(work func()) { all.Go(work) }); err != nil {
		t.Error(err)
	}
	end()
	all.Wait() // what lends seats ends
	for name, d := range builtintest.Definitions(t) {
		was, is := *d, *d
		flowcontrol.Kind(kinds.Config{}).Extend(&is)
		if want := was.InForce || name == "flowschema" || name == "prioritylevelconfiguration"; is.InForce != want {
			t.Errorf("%s is waited for: %t", name, is.InForce)
		}
	}
	own := &crd.Definition{InForce: true}
	if flowcontrol.Kind(kinds.Config{}).Extend(own); !own.InForce {
		t.Error("what waits for another reason does not")
	}
}

// What another gateway has made first is no error, nor what it has deleted; everything
// else is told. What somebody has changed without a word stays his, and says so.
func TestOthersKeepThemToo(t *testing.T) {
	o := served(t)
	for _, c := range []struct {
		op  string
		err error
		bad bool
	}{{"create", apierrors.NewAlreadyExists(gvr.FlowSchemas, "x"), false}, {"create", errors.New("no"), true}} {
		o.Fail(func(op string, _ controller.Key) error {
			if op == c.op {
				return c.err
			}
			return nil
		})
		if err := flowcontrol.Keep(t.Context(), o); (err != nil) != c.bad {
			t.Errorf("%s fails by %v: %v", c.op, c.err, err)
		}
	}
	o.Fail(nil)
	if err := flowcontrol.Keep(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	exempt := controllertest.MustGet(t, o, gvr.PriorityLevels, "", "exempt")
	if exempt.GetKind() != "PriorityLevelConfiguration" || exempt.GetAPIVersion() != "flowcontrol.apiserver.k8s.io/v1" || exempt.GetAnnotations()[fcv1.AutoUpdateAnnotationKey] != "true" {
		t.Errorf("%v", exempt)
	}
	change := func(name, annotation, part, field string, value any) {
		controllertest.MustChange(t, o, gvr.PriorityLevels, "", "", name, func(obj *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(obj.Object, value, "spec", part, field); err != nil {
				t.Fatal(err)
			}
			obj.SetAnnotations(map[string]string{fcv1.AutoUpdateAnnotationKey: annotation, "mine": "1"})
		})
	}
	change("exempt", "true", "exempt", "lendablePercent", int64(50))
	change("catch-all", "false", "limited", "nominalConcurrencyShares", int64(70)) // it must be as it is
	change("workload-high", "?", "limited", "nominalConcurrencyShares", int64(70))
	change("leader-election", "true", "limited", "borrowingLimitPercent", int64(7))
	change("system", "true", "limited", "nominalConcurrencyShares", int64(30)) // as it was
	if err := flowcontrol.Keep(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, at := range []string{"exempt exempt lendablePercent", "catch-all limited nominalConcurrencyShares", "workload-high limited nominalConcurrencyShares", "leader-election limited borrowingLimitPercent", "system limited nominalConcurrencyShares"} {
		f := strings.Fields(at)
		obj := controllertest.MustGet(t, o, gvr.PriorityLevels, "", f[0])
		value, _, _ := unstructured.NestedInt64(obj.Object, "spec", f[1], f[2])
		got = append(got, fmt.Sprint(f[0], " ", value, " ", obj.GetAnnotations()[fcv1.AutoUpdateAnnotationKey], obj.GetAnnotations()["mine"]))
	}
	if want := "exempt 50 true1, catch-all 5 true1, workload-high 70 false1, leader-election 0 true1, system 30 true1"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, ", "), want)
	}
	writes := o.Writes()
	if err := flowcontrol.Keep(t.Context(), o); err != nil || o.Writes() != writes {
		t.Errorf("%d writes of what is kept, %v", o.Writes()-writes, err)
	}
}

// What tells of schemas passes on what goes wrong, but that they are gone.
func TestKeeperTellsWhatFails(t *testing.T) {
	mine := controller.Key{GroupResource: gvr.FlowSchemas, Name: "mine"}
	fail := func(err error) func(*controllertest.Objects) {
		return func(o *controllertest.Objects) {
			o.Fail(func(op string, _ controller.Key) error {
				if strings.HasPrefix(op, "update") {
					return err
				}
				return nil
			})
		}
	}
	gone := apierrors.NewNotFound(gvr.FlowSchemas, "mine")
	for name, c := range map[string]struct {
		how    func(*controllertest.Objects)
		told   bool
		writes int
	}{
		"nothing":                  {func(*controllertest.Objects) {}, false, 1},
		"schemas cannot be read":   {func(o *controllertest.Objects) { o.Break(gvr.FlowSchemas) }, true, 0},
		"levels cannot be read":    {func(o *controllertest.Objects) { o.Break(gvr.PriorityLevels) }, true, 0},
		"no schema can be written": {fail(errors.New("no")), true, 0}, "a schema is gone when it is written": {fail(gone), false, 0},
		"a schema is gone": {func(o *controllertest.Objects) {
			if err := o.Delete(t.Context(), gvr.FlowSchemas, "", "mine", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}, false, 0},
	} {
		o := served(t)
		controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("mine", "exempt"))
		controllertest.MustCreate(t, o, gvr.PriorityLevels, tree{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": tree{"name": "exempt"}, "spec": tree{"type": "Exempt"}})
		c.how(o)
		k, writes := flowcontrol.NewKeeper(o), o.Writes()
		for range 2 {
			q := &asked{}
			if err := k.Reconcile(t.Context(), q, mine); (err != nil) != c.told || len(q.keys) != 1 {
				t.Errorf("%s: %v, %q", name, err, q.keys)
			}
		}
		if n := o.Writes() - writes; n != c.writes {
			t.Errorf("%s: %d writes", name, n)
		}
	}
	if k := flowcontrol.NewKeeper(nil); k.Name() != "priority-and-fairness" || len(k.Watches()) != 2 || len(k.Seeds()) != 1 {
		t.Error("it follows something else")
	}
}
