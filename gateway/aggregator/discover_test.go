package aggregator

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const (
	allVersions = `{"items":[` +
		`{"metadata":{"name":"other"},"versions":[{"version":"v1","resources":[{"resource":"others"}]}]},` +
		`{"metadata":{"name":"g"},"versions":[{"version":"v2","resources":[{"resource":"seconds"}]},{"version":"v1","freshness":"Stale","resources":[` +
		`{"resource":"things","responseKind":{"group":"g","version":"v1","kind":"Thing"},"subresources":[{"subresource":"scale","responseKind":{"kind":"Scale"}},{"subresource":"talk"}]},{"resource":"words"}]}]}]}`
	oneVersion = `{"kind":"APIResourceList","resources":[{"name":"plains","kind":"Plain"}]}`
)

// What a server serves is found in what it says of all versions, or where it says that
// otherwise, or not at all, in what it says of the one.
func TestWhatAServerServes(t *testing.T) {
	group, aggregated := "g", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	contentType, all, one := "", "", ""
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		text := one
		switch accept := r.Header.Get("Accept"); {
		case r.URL.Path == "/apis" && strings.HasPrefix(accept, aggregated+",") && strings.HasSuffix(accept, ",application/json"):
			text = all
			w.Header().Set("Content-Type", contentType)
		case (r.URL.Path != "/apis/g/v1" || group != "g") && (r.URL.Path != "/api/v1" || group != "") || accept != "application/json":
			text = ""
		}
		if text == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text)
	})
	for name, test := range map[string]struct{ group, contentType, all, one, want string }{
		"of all":         {"g", aggregated, allVersions, oneVersion, "Current things(scale,talk) words"},
		"not named":      {"g", aggregated, strings.ReplaceAll(allVersions, `"g"`, `"h"`), oneVersion, "Current"},
		"no such form":   {"g", "application/json", allVersions, oneVersion, "Current plains"},
		"nothing of all": {"g", aggregated, "", oneVersion, "Current plains"},
		"nothing":        {"g", aggregated, "", "", "bad status"},
		"no group":       {"", aggregated, allVersions, oneVersion, "Current plains"},
		"all is broken":  {"g", aggregated, "[]", oneVersion, "what v1.g serves: json: cannot unmarshal array"},
		"all is much":    {"g", aggregated, `{"items":[{}` + strings.Repeat(",{}", maxSaid/2) + "]}", oneVersion, "what v1.g serves: it has 200003 values, more than 200000"},
		"one is much":    {"g", "", "", `{"resources":[{}` + strings.Repeat(",{}", maxSaid/2) + "]}", "what v1.g serves: it has 200003 values, more than 200000"},
		"one is broken":  {"g", "", "", "[]", "what v1.g serves: json: cannot unmarshal array"},
		"one is wrong":   {"g", "", "", `{"resources":[{"name":"a","namespaced":true},{"name":"a/b"}]}`, "scope do not match"},
	} {
		group, contentType, all, one = test.group, test.contentType, test.all, test.one
		b.gv.Group, b.name = test.group, "v1.g"
		got, err := b.discover(t.Context())
		if err != nil {
			if test.want[0] == 'C' || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if said := told(t, got); said != test.want || got.Version != "v1" {
			t.Errorf("%s: %s %q, want %q", name, got.Version, said, test.want)
		}
	}
	b.unusable = errUnread
	if _, err := b.discover(t.Context()); !errors.Is(err, errUnread) {
		t.Error(err)
	}
}

// told is what a server serves in few words. What it does not say the kind of is of none.
func told(t *testing.T, d apidiscoveryv2.APIVersionDiscovery) string {
	t.Helper()
	said := string(d.Freshness)
	for _, r := range d.Resources {
		var within []string
		for _, s := range r.Subresources {
			within = append(within, s.Subresource)
			if want := map[string]string{"scale": "Scale"}[s.Subresource]; s.ResponseKind == nil || s.ResponseKind.Kind != want {
				t.Errorf("%s has the kind %v", s.Subresource, s.ResponseKind)
			}
		}
		if said += " " + r.Resource; len(within) > 0 {
			said += "(" + strings.Join(within, ",") + ")"
		}
		want := map[string]metav1.GroupVersionKind{"things": {Group: "g", Version: "v1", Kind: "Thing"}}[r.Resource]
		if r.Resource != "plains" && !reflect.DeepEqual(r.ResponseKind, &want) {
			t.Errorf("%s has the kind %v", r.Resource, r.ResponseKind)
		}
	}
	return said
}

// What a server described is shown until it describes something else, and is asked for
// again where it did not come, or was bad; nothing but its description is asked for.
func TestWhatAServerDescribesIsKept(t *testing.T) {
	index, document := "", ""
	var asked []string
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		text := document
		if r.URL.Path == "/openapi/v3" {
			text = index
		}
		if text == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text)
	})
	at := func(url string) string { return `{"paths":{"apis/g/v1":{"serverRelativeURL":"` + url + `"}}}` }
	const url, first, second = "/openapi/v3/apis/g/v1?hash=", `{"openapi":"3.0.0"}`, `{"openapi":"3.0.1"}`
	last := said{}
	for i, step := range []struct {
		index, document string
		asked           []string // of what there is
		want            string
		soon            bool // it is asked for again
	}{
		{"", first, nil, "", false},
		{at(url + "1"), "", []string{url + "1"}, "", true},
		{at(url + "1"), first, []string{url + "1"}, first, false},
		{at(url + "1"), second, nil, first, false},
		{"", second, nil, first, false},
		{at("/api/v1/secrets"), second, nil, first, false},
		{at(url + "2"), second, []string{url + "2"}, second, false},
		{at(url + "3"), "", []string{url + "3"}, second, true}, // the last one stays
		{at(url + "3"), "", []string{url + "3"}, second, false},
		{at(url + "2"), "", nil, second, false},
		{at(url + "3"), "{", []string{url + "3"}, second, false},  // is bad,
		{at(url + "3"), first, []string{url + "3"}, first, false}, // and no longer
		{at(url + "4"), "{", []string{url + "4"}, first, true},
		{at(url + "4"), "{", []string{url + "4"}, first, false},
		{at(url + "4"), second, []string{url + "4"}, second, false},
		{"{}", first, nil, "", false},
	} {
		index, document, asked = step.index, step.document, nil
		var soon bool
		last, soon = b.describe(t.Context(), last)
		if string(last.openapi) != step.want || soon != step.soon || !slices.Equal(asked, append([]string{"/openapi/v3"}, step.asked...)) {
			t.Errorf("%d: %q, asked for %v, again %t", i, last.openapi, asked, soon)
		}
	}
}

// What a server said is forgotten with it.
func TestServersThatWentSaidNothing(t *testing.T) {
	s, gv := New(Config{}), schema.GroupVersion{Group: "g", Version: "v1"}
	b := s.server(&apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{Service: to("work", "s", 0), GroupPriorityMinimum: 7, VersionPriority: 8}}, gv, nil)
	here, gone := &map[schema.GroupVersion]*server{gv: b}, &map[schema.GroupVersion]*server{}
	s.found.said[gv] = said{discovery: apidiscoveryv2.APIVersionDiscovery{Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}, openapi: []byte("{}")}
	for i, step := range []struct {
		servers   *map[schema.GroupVersion]*server
		freshness string
		hash      int
	}{{here, "Current", 64}, {gone, "", 0}, {here, "Stale", 0}} {
		before := s.Others()
		s.now.Store(step.servers)
		s.publish()
		after := s.Others()
		if s.publish(); s.Others() != after || before == after {
			t.Errorf("%d: what is the same is another one", i)
		}
		if len(*after) != len(*step.servers) {
			t.Fatalf("%d: %v", i, *after)
		}
		for _, o := range *after {
			if string(o.Discovery.Freshness) != step.freshness || len(o.OpenAPIHash) != step.hash || o.Discovery.Version != "v1" || o.Priority.Group != 7 || o.Priority.Version != 8 {
				t.Errorf("%d: %+v", i, o)
			}
		}
	}
}

// asking runs one of the loops that ask, of a server that has so many replies and then no
// more, and tells the seconds at which it was asked for a path.
func asking(t *testing.T, path string, available bool, replies []string, run func(*Servers, context.Context), wake int) (at []int) {
	t.Helper()
	gv := schema.GroupVersion{Group: "g", Version: "v1"}
	s := New(Config{Objects: oneService{}, Certificate: certificate})
	b := s.server(&apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{Service: to("default", "s", 443)}}, gv, nil)
	b.available = available
	b.transport.Protocols = new(http.Protocols)
	b.transport.Protocols.SetHTTP1(true)
	began := time.Now()
	b.transport.DialTLSContext = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			r, err := http.ReadRequest(bufio.NewReader(there))
			if err != nil || r.URL.Path != path {
				return
			}
			if at = append(at, int(time.Since(began)/time.Second)); len(at) <= len(replies) {
				_, _ = io.WriteString(there, "HTTP/1.1 "+replies[len(at)-1]+"\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
			}
		}()
		return here, nil
	}
	s.now.Store(&map[schema.GroupVersion]*server{gv: b})
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute+time.Second)
	defer stop()
	if wake > 0 {
		time.AfterFunc(time.Duration(wake)*time.Second, s.found.look)
	}
	run(s, ctx)
	synctest.Wait()
	return at
}

// Servers are asked each minute, at once where something changed, and sooner where one
// did not answer that is said to be available; for a description ever later.
func TestWhenServersAreAsked(t *testing.T) {
	const ok, no = "200 OK\r\nContent-Type: application/json", "500 No"
	many := slices.Repeat([]string{ok}, 200)
	for name, test := range map[string]struct {
		path      string
		available bool
		replies   []string
		run       func(*Servers, context.Context)
		wake      int
		want      []int
	}{
		"answers":       {"/apis/g/v1", true, many, (*Servers).Discover, 0, []int{0, 60, 120, 180, 240}},
		"something new": {"/apis/g/v1", true, many, (*Servers).Discover, 90, []int{0, 60, 90, 150, 210}},
		"silent":        {"/apis/g/v1", true, append([]string{no, no}, many...), (*Servers).Discover, 0, []int{0, 2, 4, 64, 124, 184}},
		"not there":     {"/apis/g/v1", false, nil, (*Servers).Discover, 0, []int{0, 60, 120, 180, 240}},
		"describes":     {"/openapi/v2", true, []string{"404 No", "404 No", "404 No", "404 No", "404 No"}, (*Servers).Describe, 90, []int{0, 60, 90, 150, 210}},
		"is silent":     {"/openapi/v2", true, nil, (*Servers).Describe, 0, []int{0, 2, 6, 14, 30, 62, 122, 182}},
		"answers then":  {"/openapi/v2", true, []string{no, no, "404 No", no, no, no}, (*Servers).Describe, 0, []int{0, 2, 6, 66, 68, 72, 80, 96, 128, 188}},
		"describes not": {"/openapi/v2", false, nil, (*Servers).Describe, 0, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := asking(t, test.path, test.available, test.replies, test.run, test.wake); !slices.Equal(got, test.want) {
				t.Errorf("%s: asked at %v, want %v", name, got, test.want)
			}
		})
	}
}

// What a server serves is shown up to so many bytes.
func TestHowMuchIsShownOfAServer(t *testing.T) {
	text, err := json.Marshal(apidiscoveryv2.APIVersionDiscovery{Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	for more, refused := range []bool{false, true} {
		d := apidiscoveryv2.APIVersionDiscovery{Version: strings.Repeat("v", 1+maxDiscovered-len(text)+more)}
		if err := showable(d); (err != nil) != refused {
			t.Errorf("%d more than is shown: %v", more, err)
		}
	}
}
