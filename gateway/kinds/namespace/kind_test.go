package namespace_test

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// The start makes the namespaces of the system before anything else, each time it is.
func TestTheStartMakesNamespaces(t *testing.T) {
	e := realengine.Start(t)
	served, err := namespace.Kind(kinds.Config{Options: options.Default()}).Serve(e.Verbs)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, s := range served.Starts {
			if err := s.Run(t.Context(), "here", func(func()) { t.Error("work goes on") }); err != nil || !s.First {
				t.Errorf("%s, first: %v: %v", s.Name, s.First, err)
			}
		}
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range namespace.System {
			if controllertest.Gone(e, gvr.Namespaces, "", name) {
				t.Errorf("%s is not there", name)
			}
		}
	}
	var names []string
	for _, c := range served.Controllers() {
		names = append(names, c.Controller.Name())
	}
	if !slices.Equal(names, []string{"bootstrap", "namespace"}) {
		t.Errorf("controllers %q", names)
	}
}
