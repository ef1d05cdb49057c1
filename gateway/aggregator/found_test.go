package aggregator

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A server that says too much of itself, in bytes or in what they would become, is not
// repeated: others are shown what it said before.
func TestServersThatSayTooMuchAreNotRepeated(t *testing.T) {
	resources, extension := `{"name":"things","kind":"Thing"}`, "[]"
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/apis/g/v1":
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"g/v1","resources":[`+resources+`]}`)
		case "/openapi/v3":
			_, _ = fmt.Fprintf(w, `{"paths":{"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=%d"}}}`, len(extension))
		case "/openapi/v3/apis/g/v1":
			_, _ = io.WriteString(w, `{"openapi":"3.0.0","x-a":`+extension+`}`)
		default:
			http.NotFound(w, r)
		}
	})
	b.of.now.Store(&map[schema.GroupVersion]*server{b.gv: b})
	said := func() (resources int, described int) {
		t.Helper()
		b.of.ask(t.Context())
		b.of.publish()
		one := (*b.of.Others())[0]
		return len(one.Discovery.Resources), len(one.OpenAPI)
	}
	n, size := said()
	if n != 1 || size == 0 {
		t.Fatalf("%d resources, %d bytes", n, size)
	}
	extension = "[" + strings.Repeat("[],", 200_000) + "1]"
	if n, now := said(); n != 1 || now != size { // the last good one
		t.Errorf("%d resources, %d bytes", n, now)
	}
	resources += strings.Repeat(`,{"name":"others","kind":"`+strings.Repeat("O", 1000)+`"}`, 3000)
	if n, _ := said(); n != 1 || (*b.of.Others())[0].Discovery.Freshness != "Stale" {
		t.Errorf("%d resources", n)
	}
}

// An index of OpenAPI version 3 that would become too much is not taken, though it has the
// version, and what is known stays.
func TestIndexesThatSayTooMuchAreNotTaken(t *testing.T) {
	more := ""
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi/v3" {
			_, _ = fmt.Fprintf(w, `{"paths":{%s"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=%d"}}}`, more, len(more))
			return
		}
		_, _ = io.WriteString(w, `{"openapi":"3.0.0"}`)
	})
	known, _ := b.describe(t.Context(), said{})
	if known.openapi == nil {
		t.Fatal("one that says little is not taken")
	}
	for _, entry := range []string{`"apis/g/v%d":{},`, `"x":{"serverRelativeURL":"%d"},`} {
		var all strings.Builder
		for n := range 300_000 {
			fmt.Fprintf(&all, entry, n+2)
		}
		more = all.String()
		if first, _ := b.describe(t.Context(), said{}); first.openapi != nil || first.at != "" {
			t.Errorf("%s: taken is %s", entry, first.at)
		}
		if now, _ := b.describe(t.Context(), known); now.at != known.at || now.openapi == nil {
			t.Errorf("%s: taken is %s", entry, now.at)
		}
	}
}

// What a server described is shown until what it describes instead has come, for which it
// is asked again soon.
func TestADescriptionThatDoesNotComeLeavesTheLast(t *testing.T) {
	version, away := 1, false
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/apis/g/v1":
			_, _ = io.WriteString(w, oneVersion)
		case "/openapi/v3":
			_, _ = fmt.Fprintf(w, `{"paths":{"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=%d"}}}`, version)
		case "/openapi/v3/apis/g/v1":
			if away {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = fmt.Fprintf(w, `{"openapi":"3.0.%d"}`, version)
		default:
			http.NotFound(w, r)
		}
	})
	b.of.now.Store(&map[schema.GroupVersion]*server{b.gv: b})
	for i, step := range []struct {
		version int
		away    bool
		want    string
		all     bool
	}{{1, false, "3.0.1", true}, {2, true, "3.0.1", false}, {2, true, "3.0.1", true}, {2, false, "3.0.2", true}, {3, true, "3.0.2", false}, {3, false, "3.0.3", true}} {
		version, away = step.version, step.away
		all := b.of.ask(t.Context())
		b.of.publish()
		if got := string((*b.of.Others())[0].OpenAPI); all != step.all || !strings.Contains(got, step.want) {
			t.Errorf("%d: shown is %s, all answered: %t", i, got, all)
		}
	}
}

// A port of endpoints is found by its name, if it has a number.
func TestPortsOfEndpoints(t *testing.T) {
	name, number := func(s string) *string { return &s }, func(n int32) *int32 { return &n }
	slice := &discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{
		{Port: number(1)}, {Name: name("a")}, {Name: name("a"), Port: number(2)}, {Name: name("b"), Port: number(3)}, {Name: name(""), Port: number(4)},
	}}
	for of, want := range map[string]int32{"a": 2, "b": 3, "": 4, "c": 0} {
		if got := portNamed(slice, of); want == 0 && got != nil || want != 0 && (got == nil || *got != want) {
			t.Errorf("%q is %v, want %d", of, got, want)
		}
	}
}
