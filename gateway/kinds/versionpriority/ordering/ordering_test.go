package ordering

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

func bind(t *testing.T, e *realengine.Engine, name string, order ...any) {
	t.Helper()
	controllertest.MustCreate(t, e, gvr.Priorities, map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"groups": []any{"example.com"}, "module": "m"}})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.MustChange(t, e, gvr.Priorities, "status", "", name, func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"groups": []any{map[string]any{"group": "example.com", "versions": order}}}
	})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTheOrderIsThatOfTheObjectThatComesFirst_WP03(t *testing.T) {
	e := realengine.Start(t)
	s := New(e.Catalog, zerolog.Nop())
	served := []string{"v2", "v1"}
	applied := func() string { return strings.Join(s.Current().Apply("example.com", served), " ") }
	if one := s.Current(); applied() != "v2 v1" || s.Current() != one {
		t.Errorf("without objects: %s", applied())
	}
	bind(t, e, "b", "v1", "v2")
	if one := s.Current(); applied() != "v1 v2" || s.Current() != one {
		t.Errorf("with one: %s", applied())
	}
	before := s.Current()
	bind(t, e, "a") // comes before b, and has no order
	if applied() != "v2 v1" || s.Current() == before || strings.Join(before.Apply("example.com", served), " ") != "v1 v2" {
		t.Errorf("with one that gave none: %s", applied())
	}
	if got := s.Current().Apply("other.example.com", served); !slices.Equal(got, served) {
		t.Errorf("another group: %q", got)
	}
}

func TestAnUnreadableObjectOrdersNothing(t *testing.T) {
	e := realengine.Start(t)
	var log bytes.Buffer
	s := New(e.Catalog, zerolog.New(&log))
	for name, text := range map[string]string{"odd": "nonsense", "typed": `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriority","metadata":{"name":"typed"},"spec":{"groups":7}}`} {
		if _, err := e.Store.Create(t.Context(), "/registry/wasmgate.dev/versionpriorities/"+name, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	bind(t, e, "b", "v1")
	if got := s.Current().Apply("example.com", []string{"v2", "v1"}); !slices.Equal(got, []string{"v1", "v2"}) {
		t.Errorf("got %q", got)
	}
	if got := log.String(); strings.Count(got, "orders nothing") != 2 || !strings.Contains(got, `"name":"odd"`) || !strings.Contains(got, `"name":"typed"`) {
		t.Errorf("logged %s", got)
	}
}

func TestVersionsAreThoseOfEveryDefinitionThatIsCached(t *testing.T) {
	e := realengine.Start(t)
	s := New(e.Catalog, zerolog.Nop())
	controllertest.MustCreate(t, e, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1"))
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.Establish(t, e, controllertest.CronTabsDefinition, "v1")
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Versions(t.Context(), "example.com"); err != nil || !slices.Equal(got, []string{"v1", "v1beta1"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := s.Versions(t.Context(), "none"); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
}
