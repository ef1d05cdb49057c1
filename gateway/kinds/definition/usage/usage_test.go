package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/lifecycle/retire"
)

// Whatever is stored is counted by what it says of itself, served or not.
func TestWhatIsStoredIsCounted(t *testing.T) {
	e := realengine.Start(t)
	entry := func(version, manager, operation, time string) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/%s","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"manager":%q,"operation":%q,"time":%q}`, version, manager, operation, time)
	}
	object := func(apiVersion, managers string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":%q,"kind":"CronTab","metadata":{"name":"x","managedFields":[%s]}}`, apiVersion, managers)
	}
	binary, err := direct.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": map[string]any{"name": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	binary = append([]byte{0xd9, 0xd9, 0xf7}, binary...) // it describes itself
	for name, stored := range map[string][]byte{
		"a/one": object("example.com/v1beta1", entry("v1beta1", "ci", "Apply", "2026-01-02T03:04:05Z")+","+entry("v1beta1", "ci", "Apply", "2026-01-02T03:04:06Z")+","+entry("v1", "app", "Update", "2026-01-01T00:00:00Z")),
		"a/two": object("example.com/v1beta1", entry("v1beta1", "ci", "Apply", "2026-01-01T00:00:00Z")+`,{"apiVersion":"other.com/v1","manager":"m","operation":"Update"}`),
		"b/one": object("example.com/v1", `7`), "b/two": binary, "b/odd": []byte("nonsense"), "b/other": object("other.com/v1", ""), "b/none": []byte(`{"kind":"CronTab"}`),
	} {
		if _, err := e.Store.Create(t.Context(), "/registry/example.com/crontabs/"+name, stored, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted := metrics.New()
	counted.Clients.Asked("example.com", "v1beta1", "crontabs", "alice", "kubectl")
	q := Question{Objects: e.Catalog.Cache(), Clients: counted.Clients, Exists: func(context.Context, resource.Target) error { return nil }}
	got, err := q.Answer(t.Context(), resource.Target{Name: "crontabs.example.com"}, "", nil, resource.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u := got.(Usage)
	u.Since = u.Clients[0].Last // some time
	text, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	at, err := json.Marshal(u.Since)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"kind":"DefinitionUsage","apiVersion":"wasmgate.dev/v1","definition":"crontabs.example.com",`+
		`"stored":[{"version":"v1","objects":2},{"version":"v1beta1","objects":2}],"unreadable":3,`+
		`"owners":[{"version":"v1","manager":"app","operation":"Update","objects":1,"last":"2026-01-01T00:00:00Z"},`+
		`{"version":"v1beta1","manager":"ci","operation":"Apply","objects":2,"last":"2026-01-02T03:04:06Z"}],`+
		`"clients":[{"version":"v1beta1","user":"alice","agent":"kubectl","requests":1,"last":%s}],"since":%s}`, at, at)
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// How many owners are told is bounded, and that there are others is told, too.
func TestOwnersAreBounded(t *testing.T) {
	c := counting{group: "example.com", stored: map[string]int64{}, owners: map[owner]*retire.Owner{}}
	e := realengine.Start(t)
	managers := ""
	for n := range maxOwners + 1 {
		managers += fmt.Sprintf(`,{"apiVersion":"example.com/v1","manager":"m%d","operation":"Apply"}`, n)
	}
	if _, err := e.Store.Create(t.Context(), "/registry/example.com/crontabs/a", fmt.Appendf(nil, `{"apiVersion":"example.com/v1","metadata":{"managedFields":[%s]}}`, managers[1:]), 0); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	objects := e.Catalog.Cache().Bucket("example.com/crontabs").Snapshot()
	if err := c.all(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	if u := c.usage(); len(u.Owners) != maxOwners || !u.MoreOwners || u.Owners[0].Last != nil {
		t.Errorf("%d owners, more: %v", len(u.Owners), u.MoreOwners)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.all(ended, objects); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone: %v", err)
	}
}
