package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/custom"
)

const aggregatedAccept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// definitions are the built-in kinds that kube-apiserver 1.36 serves too, and
// the custom resource of the recorded documents.
func definitions(t testing.TB) []*crd.Definition {
	t.Helper()
	all, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*crd.Definition
	for _, d := range all {
		if d.Group == "" || d.Group == "coordination.k8s.io" {
			out = append(out, d)
		}
	}
	return append(out, compile(t, func(*apiextensionsv1.CustomResourceDefinition) {}))
}

func compile(t testing.TB, change func(*apiextensionsv1.CustomResourceDefinition)) *crd.Definition {
	t.Helper()
	data, err := os.ReadFile("testdata/crd.json")
	if err != nil {
		t.Fatal(err)
	}
	var c apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	change(&c)
	d, err := custom.Compile(&c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tree(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

func options(t *testing.T) Options { return Options{Report: func(err error) { t.Error(err) }} }

// What testdata holds are kube-apiserver 1.36's own documents, reduced to the
// kinds that are served here.
func TestDocumentsAreKubernetes_RES10_CRD09(t *testing.T) {
	docs := New(definitions(t), options(t))
	for path, tc := range map[string]struct{ file, accept, contentType string }{
		"/api":                           {"api", "", "application/json"},
		"/apis":                          {"groups", "application/json", "application/json"},
		"/apis/disc.example.com":         {"group", "*/*", "application/json"},
		"/apis/disc.example.com/v1":      {"custom_v1", "", "application/json"},
		"/apis/disc.example.com/v1beta1": {"custom_v1beta1", "", "application/json"},
		"/apis/coordination.k8s.io/v1":   {"coordination_v1", "", "application/json"},
		"/apis/events.k8s.io/v1":         {"events_v1", "", "application/json"},
		"/api/v1":                        {"core_v1", "", "application/json"},
		"/api/":                          {"aggregated_api", aggregatedAccept, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
		"/apis/":                         {"aggregated_apis", aggregatedAccept, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
	} {
		t.Run(path, func(t *testing.T) {
			body, contentType, etag, ok := docs.Lookup(path, tc.accept)
			if !ok || contentType != tc.contentType || len(etag) < 10 {
				t.Fatalf("ok %v, content type %q, etag %q", ok, contentType, etag)
			}
			want, err := os.ReadFile("testdata/" + tc.file + ".json")
			if err != nil {
				t.Fatal(err)
			}
			got, wanted := tree(t, body), tree(t, want)
			if path == "/api" {
				delete(got.(map[string]any), "serverAddressByClientCIDRs")
			}
			if !reflect.DeepEqual(got, wanted) {
				t.Errorf("got\n%s\nwant\n%s", body, want)
			}
		})
	}
}

func TestServerAddress(t *testing.T) {
	body, _, _, _ := New(definitions(t), Options{ServerAddress: "192.0.2.1:6443", Report: options(t).Report}).Lookup("/api", "")
	var v metav1.APIVersions
	if err := json.Unmarshal(body, &v); err != nil || v.ServerAddressByClientCIDRs[0].ServerAddress != "192.0.2.1:6443" {
		t.Errorf("%s: %v", body, err)
	}
}

func TestNegotiation(t *testing.T) {
	docs := New(definitions(t), options(t))
	for _, tc := range []struct{ path, accept, contentType, prefix string }{
		{"/apis", "application/yaml", "application/yaml", "apiVersion: v1\ngroups:"},
		{"/apis", "application/vnd.kubernetes.protobuf, */*", "application/vnd.kubernetes.protobuf", "k8s\x00"},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2beta1"`},
		{"/apis", "application/yaml;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "apiVersion: apidiscovery.k8s.io/v2\nitems:"},
		{"/api", "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "k8s\x00"},
		{"/apis", "text/html;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "", ""},
		{"/apis", "text/html, application/json;q=0.5", "application/json", `{"kind":"APIGroupList"`},
		{"/apis", "application/yaml;q=0", "application/yaml", "apiVersion: v1\ngroups:"},
		{"/apis", "text/html", "", ""},
		{"/apis", "*/json", "", ""},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList", "", ""},
		{"/apis/disc.example.com", aggregatedAccept, "application/json", `{"kind":"APIGroup"`},
		{"/apis/disc.example.com", "application/json;as=Table;g=meta.k8s.io;v=v1", "", ""},
	} {
		body, contentType, _, ok := docs.Lookup(tc.path, tc.accept)
		if !ok || contentType != tc.contentType || !strings.HasPrefix(string(body), tc.prefix) {
			t.Errorf("%s as %s: %v %q %.80q", tc.path, tc.accept, ok, contentType, body)
		}
	}
	for _, path := range []string{"/", "/apis/none", "/apis/disc.example.com/v2", "/api/v2", "/apis//v1"} {
		if _, _, _, ok := docs.Lookup(path, ""); ok {
			t.Errorf("%s is there", path)
		}
	}
}

func TestProtobuf(t *testing.T) {
	body, _, _, _ := New(definitions(t), options(t)).Lookup("/apis/disc.example.com", runtime.ContentTypeProtobuf)
	var envelope runtime.Unknown
	var group metav1.APIGroup
	if err := envelope.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
		t.Fatal(err)
	}
	if err := group.Unmarshal(envelope.Raw); err != nil || envelope.Kind != "APIGroup" || group.PreferredVersion.Version != "v1" {
		t.Errorf("%v %+v %v", envelope.TypeMeta, group, err)
	}
}

func TestProtobufOfAllGroups(t *testing.T) {
	body, _, _, _ := New(definitions(t), options(t)).Lookup("/apis", runtime.ContentTypeProtobuf+";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	var envelope runtime.Unknown
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := envelope.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
		t.Fatal(err)
	}
	if err := list.Unmarshal(envelope.Raw); err != nil || envelope.Kind != "APIGroupDiscoveryList" || len(list.Items) == 0 || len(list.Items[0].Versions[0].Resources) == 0 {
		t.Errorf("%v %+v %v", envelope.TypeMeta, list, err)
	}
}

func TestETagFollowsContent_RES10(t *testing.T) {
	_, _, one, _ := New(definitions(t), options(t)).Lookup("/apis", aggregatedAccept)
	_, _, same, _ := New(definitions(t), options(t)).Lookup("/apis", aggregatedAccept)
	if one != same {
		t.Error("the same definitions have different etags")
	}
	changed := append(definitions(t), compile(t, func(c *apiextensionsv1.CustomResourceDefinition) {
		c.Spec.Names.Plural, c.Spec.Names.Kind = "tapes", "Tape"
	}))
	if _, _, other, _ := New(changed, options(t)).Lookup("/apis", aggregatedAccept); other == one {
		t.Error("another kind did not change the etag")
	}
}

func TestTerminatingTakesNoContent(t *testing.T) {
	d := compile(t, func(c *apiextensionsv1.CustomResourceDefinition) {
		now := metav1.Now()
		c.DeletionTimestamp = &now
	})
	body, _, _, _ := New([]*crd.Definition{d}, options(t)).Lookup("/apis/disc.example.com/v1", "")
	if !bytes.Contains(body, []byte(`"verbs":["delete","deletecollection","get","list","watch"]`)) {
		t.Errorf("%s", body)
	}
}

func TestVersionOrder_CRD09(t *testing.T) {
	for _, tc := range []struct {
		orders [][]string
		want   []string
	}{
		{[][]string{{"v2", "v1"}, {"v1", "v1beta1"}}, []string{"v2", "v1", "v1beta1"}},
		{[][]string{{"v1beta1"}, {"v1"}, {"v10", "v9"}}, []string{"v10", "v9", "v1", "v1beta1"}},
		{[][]string{{"v1", "v2"}}, []string{"v1", "v2"}},
		{[][]string{{"v1", "v2"}, {"v2", "v1"}}, []string{"v2", "v1"}},
		{nil, nil},
	} {
		if got := mergeOrders(tc.orders); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.orders, got, tc.want)
		}
	}
}

// backwards is an order that nobody would have by default.
func backwards(group string, versions []string) []string {
	if group != "disc.example.com" {
		return versions
	}
	out := slices.Clone(versions)
	slices.Reverse(out)
	return out
}

func TestAnotherVersionOrderShowsEverywhere_WP03(t *testing.T) {
	opts := options(t)
	opts.Order = backwards
	docs := New(definitions(t), opts)
	for path, accept := range map[string]string{"/apis": "", "/apis/disc.example.com": "", "/apis/": aggregatedAccept} {
		body, _, _, _ := docs.Lookup(path, accept)
		var beta, ga int
		if accept == "" {
			beta = bytes.Index(body, []byte(`"groupVersion":"disc.example.com/v1beta1"`))
			ga = bytes.Index(body, []byte(`"groupVersion":"disc.example.com/v1"`))
			if !bytes.Contains(body, []byte(`"preferredVersion":{"groupVersion":"disc.example.com/v1beta1","version":"v1beta1"}`)) {
				t.Errorf("%s prefers %s", path, body)
			}
		} else {
			at := bytes.Index(body, []byte(`"name":"disc.example.com"`))
			beta, ga = bytes.Index(body[at:], []byte(`"version":"v1beta1"`)), bytes.Index(body[at:], []byte(`"version":"v1"`))
		}
		if beta < 0 || ga < 0 || beta > ga {
			t.Errorf("%s %s: v1beta1 at %d, v1 at %d of %s", path, accept, beta, ga, body)
		}
	}
}

func TestVersionsOfAGroup(t *testing.T) {
	defs := definitions(t)
	for group, want := range map[string]string{"disc.example.com": "v1 v1beta1", "": "v1", "none": ""} {
		if got := strings.Join(Versions(defs, group), " "); got != want {
			t.Errorf("%q serves %q, want %q", group, got, want)
		}
	}
}

func TestGroupOrder(t *testing.T) {
	all, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zoo.example.com", "abc.example.com"} {
		all = append(all, compile(t, func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Group = name }))
	}
	body, _, _, _ := New(all, options(t)).Lookup("/apis", "")
	var list metav1.APIGroupList
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range list.Groups {
		names = append(names, g.Name)
	}
	want := []string{"apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
		"admissionregistration.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io", "discovery.k8s.io", "resource.k8s.io",
		"flowcontrol.apiserver.k8s.io", "storagemigration.k8s.io", "wasmgate.dev", "abc.example.com", "zoo.example.com"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("%q", names)
	}
}

func TestADocumentThatCannotBeEncodedIsReported(t *testing.T) {
	var reported []string
	d := newDocument(func() runtime.Object { return &metav1.APIGroupList{} }, func(err error) { reported = append(reported, err.Error()) })
	f := &format{contentType: "some/type", encode: func(runtime.Object) ([]byte, error) { return nil, errors.New("no") }}
	for range 2 {
		if e := d.encoded(f); len(e.body) != 0 || e.etag != "" {
			t.Errorf("made %+v", e)
		}
	}
	if len(reported) != 1 || reported[0] != "a discovery document as some/type: no" {
		t.Errorf("reported %q", reported)
	}
}
