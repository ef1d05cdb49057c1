package aggregator

import (
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// head is the head of a request.
type head http.Header

func (h head) Header() http.Header { return http.Header(h).Clone() }

// What is passed on says who asks as the gateway knows it, and has nothing of what the
// client said of that, nor its credentials.
func TestWhatIsPassedOnIsInTheNameOfTheUser(t *testing.T) {
	c := &api.Call{Request: &api.Request{
		Method: "GET", Path: "/apis/g/v1/things/a b", Query: "watch=1", ID: "id", Remote: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 1},
		Head: head{
			"Authorization": {"Bearer secret"}, "Impersonate-User": {"root"}, "Impersonate-Extra-A": {"b"}, "Accept": {"application/json"},
			"X-Remote-User": {"root"}, "X-Remote-Group": {"system:masters"}, "X-Remote-Extra-Scope": {"all"}, "X-Remote-Uid": {"0"},
			"Connection": {"close, X-Hop"}, "X-Hop": {"x"}, "Te": {"trailers"}, "X-Forwarded-For": {"192.0.2.8"},
		},
	}, User: &authn.User{Name: "bob", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"example.com/scope": {"s"}}}}
	b := &server{of: New(Config{}), name: "v1.g", available: true}
	r := b.request(t.Context(), c, c.Head.Header(), "example:443")
	want := http.Header{
		"Accept": {"application/json"}, "X-Remote-User": {"bob"}, "X-Remote-Uid": {"7"}, "X-Remote-Group": {"dev"}, "X-Remote-Extra-Example.com%2fscope": {"s"},
		"Audit-Id": {"id"}, "X-Forwarded-For": {"192.0.2.8, 192.0.2.9"}, "Via": {"1.1 " + b.of.via}, "User-Agent": {""},
	}
	if !reflect.DeepEqual(r.Header, want) {
		t.Errorf("%v\nwant %v", r.Header, want)
	}
	if at := r.URL.String(); at != "https://example:443/apis/g/v1/things/a%20b?watch=1" {
		t.Error(at)
	}
	if reply := headers(http.Header{"Connection": {"X-Hop"}, "X-Hop": {"x"}, "Warning": {"a", "b"}, "Etag": {"e"}, "Content-Length": {"1"}}); len(reply) != 3 {
		t.Errorf("%v", reply)
	}
}

// A request that comes back is not passed on again, whoever was on its way.
func TestARequestThatComesBackIsRefused(t *testing.T) {
	b := &server{of: New(Config{}), name: "v1.g", available: true}
	other := New(Config{})
	h := http.Header{}
	b.of.passing(h)
	other.passing(h)
	if !other.passedOn(h) || New(Config{}).passedOn(h) {
		t.Errorf("passed on by %v", h)
	}
	resp := b.Serve(t.Context(), &api.Call{Request: &api.Request{Method: "GET", Path: "/apis/g/v1/things", Head: head(h)}, User: &authn.User{Name: "bob"}})
	if resp.Code != http.StatusLoopDetected || !strings.Contains(string(resp.Body), "v1.g") {
		t.Errorf("%d %s", resp.Code, resp.Body)
	}
}

// Names of APIServices that are none, which only somebody's own write to etcd can make,
// are read all the same; the versions of APIServices themselves are never another's.
func TestVersionsOfNames(t *testing.T) {
	for name, want := range map[string]schema.GroupVersion{"v1.a.b": {Group: "a.b", Version: "v1"}, "v1.": {Version: "v1"}, "none": {Version: "none"}, "": {}} {
		if got := versionOf(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	s := New(Config{})
	own, other := schema.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}, schema.GroupVersion{Group: "a", Version: "v1"}
	s.now.Store(&map[schema.GroupVersion]*server{own: {}, other: {}})
	if s.Find(own.Group, own.Version) != nil || s.Find(other.Group, other.Version) == nil || s.Find("b", "v1") != nil {
		t.Error("requests go elsewhere")
	}
}
