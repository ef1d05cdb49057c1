package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8sprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/test/harness"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func TestMediaTypes(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	c.create("one")
	one := c.path("v1", "one")
	typed := func(t *testing.T, r *harness.Reply, want string) *harness.Reply {
		t.Helper()
		if got := r.Header.Get("Content-Type"); got != want {
			t.Errorf("Content-Type %q, want %q", got, want)
		}
		return r
	}

	choosesMediaTypes(s, c, one, typed)
	listsAndCompresses(c, typed)
	writesYAMLAndTables(c, one, typed)
	leavesMetadataOnly(c, one, typed)
}

// choosesMediaTypes shows of which type requests may be, and of which their replies are.
func choosesMediaTypes(s *harness.Server, c *cronTabs, one string, typed func(t *testing.T, r *harness.Reply, want string) *harness.Reply) {
	c.run("MT-01 JSON is the default", func(t *testing.T, c *cronTabs) {
		for _, accept := range []string{"", "*/*", "application/json", "application/*"} {
			typed(t, c.api.Get(one, "Accept", accept).Want(200), "application/json").Equal("kind", "CronTab")
			typed(t, c.api.Get(c.list("v1"), "Accept", accept).Want(200), "application/json").Equal("kind", "CronTabList")
		}
	})
	c.run("MT-02 the first acceptable type by weight wins", func(t *testing.T, c *cronTabs) {
		typed(t, c.api.Get(one, "Accept", "text/csv, application/yaml;q=0.5, application/json;q=0.9").Want(200), "application/json")
		typed(t, c.api.Get(one, "Accept", "application/yaml, application/json").Want(200), "application/yaml")
	})
	c.run("MT-03 nothing acceptable is 406", func(t *testing.T, c *cronTabs) {
		c.api.Get(one, "Accept", "image/png").WantStatus(406, "NotAcceptable", "application/json, application/yaml")
		c.api.Get(configMaps(c.ns), "Accept", "text/csv").WantStatus(406, "NotAcceptable")
		c.api.Get(one, "Accept", "application/vnd.kubernetes.protobuf").Want(406)
	})
	c.run("MT-04 an unknown request type is 415", func(t *testing.T, c *cronTabs) {
		for _, path := range []string{c.list("v1"), configMaps(c.ns)} {
			c.api.Post(path, `x`, "Content-Type", "text/csv").WantStatus(415, "UnsupportedMediaType", "application/json, application/yaml")
		}
		for _, method := range []string{"POST", "PUT"} {
			path := configMaps(c.ns)
			if method == "PUT" {
				path += "/x"
			}
			c.api.Do(method, path, `{}`, "Content-Type", "application/jsonx").WantStatus(415, "UnsupportedMediaType", "application/json, application/yaml")
		}
		if !s.External { // kube-apiserver drops the connection
			c.api.Post(c.list("v1"), "k8s\x00", "Content-Type", protobuf).WantStatus(415, "UnsupportedMediaType", "application/json, application/yaml")
		}
	})
	c.run("MT-04 the reply's encoding does not depend on the request's", func(t *testing.T, c *cronTabs) {
		kinds := []string{"application/json", "application/yaml", "application/json; charset=utf-8"}
		for i, in := range kinds {
			for j, out := range []string{"application/json", "application/yaml"} {
				// JSON is YAML too.
				o := c.object("v1", fmt.Sprintf("mixed-%d-%d", i, j), `{"host":"h"}`)
				r := typed(t, c.api.Post(c.list("v1"), o, "Content-Type", in, "Accept", out).Want(201), out)
				if !r.Contains("suspend") || strings.HasPrefix(string(r.Body), "{") != (j == 0) {
					t.Errorf("%s to %s: %s", in, out, r.Body)
				}
			}
		}
		body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(k8sprotobuf.NewSerializer(scheme.Scheme, scheme.Scheme), corev1.SchemeGroupVersion),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "fromproto"}, Data: map[string]string{"a": "b"}})
		if err != nil {
			t.Fatal(err)
		}
		typed(t, c.api.Post(configMaps(c.ns), body, "Content-Type", protobuf, "Accept", "application/yaml").Want(201), "application/yaml")
		typed(t, c.api.Get(configMaps(c.ns)+"/fromproto").Want(200), "application/json").Equal("data.a", "b")
		body[0] = 'x'
		c.api.Post(configMaps(c.ns), body, "Content-Type", protobuf).WantStatus(400, "BadRequest", "expected prefix [107 56 115 0]")
	})
}

// listsAndCompresses shows collections as text, and when replies are compressed.
func listsAndCompresses(c *cronTabs, typed func(t *testing.T, r *harness.Reply, want string) *harness.Reply) {
	c.run("MT-14 a collection is its objects, and pretty only when asked", func(t *testing.T, c *cronTabs) {
		l := c.api.Get(c.list("v1")).Want(200)
		if strings.Contains(strings.TrimSpace(string(l.Body)), "\n") {
			t.Errorf("the list has lines: %.100s", l.Body)
		}
		items := l.Object().Items()
		if len(items) < 2 {
			t.Fatalf("only %d items", len(items))
		}
		for _, item := range items {
			if got := c.api.Get(c.path("v1", item.Str("metadata.name"))).Want(200).Object(); got.Str("") != item.Str("") {
				t.Errorf("in the list\n%s\nalone\n%s", item.Str(""), got.Str(""))
			}
		}
		for _, path := range []string{c.list("v1"), c.path("v1", "one"), configMaps(c.ns)} {
			// The revision of a list moves with everything that is written.
			plain, exact := c.api.Get(path).Want(200), ""
			if path != c.path("v1", "one") {
				exact = "&resourceVersionMatch=Exact&resourceVersion=" + plain.Object().RV()
			}
			pretty := c.api.Get(path + "?pretty=true" + exact).Want(200)
			if !strings.HasPrefix(string(pretty.Body), "{\n  \"") || pretty.Object().Str("") != plain.Object().Str("") {
				t.Errorf("%s\n%.300s\npretty\n%.300s", path, plain.Body, pretty.Body)
			}
		}
	})
	c.run("CMP-01 MT-14 a large collection is compressed for who takes it so", func(t *testing.T, c *cronTabs) {
		for i := range 8 {
			c.api.Post(configMaps(c.ns), fmt.Sprintf(`{"metadata":{"name":"large-%d"},"data":{"k":%q}}`, i, strings.Repeat("text ", 5<<10))).Want(201)
		}
		for _, accept := range []string{"application/json", protobuf} {
			plain := c.api.Get(configMaps(c.ns), "Accept", accept).Want(200)
			r := typed(t, c.api.Get(configMaps(c.ns), "Accept", accept, "Accept-Encoding", "gzip").Want(200), accept)
			if r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Vary") != "Accept-Encoding" || len(r.Body) > len(plain.Body)/10 {
				t.Fatalf("%d bytes of %d, %v", len(r.Body), len(plain.Body), r.Header)
			}
			in, err := gzip.NewReader(bytes.NewReader(r.Body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(in); err != nil || len(got) != len(plain.Body) {
				t.Errorf("%d bytes of %d: %v", len(got), len(plain.Body), err)
			}
			small := c.api.Get(configMaps(c.ns)+"/large-1", "Accept", accept, "Accept-Encoding", "gzip").Want(200)
			if small.Header.Get("Content-Encoding") != "" {
				t.Errorf("%d bytes are compressed", len(small.Body))
			}
			if none := c.api.Get(configMaps(c.ns), "Accept", accept, "Accept-Encoding", "br").Want(200); none.Header.Get("Content-Encoding") != "" {
				t.Errorf("compressed for who did not ask: %v", none.Header)
			}
		}
	})
	c.run("CMP-01 one large object is compressed, a watch of it is not", func(t *testing.T, c *cronTabs) {
		c.api.Post(configMaps(c.ns), fmt.Sprintf(`{"metadata":{"name":"largest","labels":{"size":"most"}},"data":{"k":%q}}`, strings.Repeat("text ", 40<<10))).Want(201)
		if h := c.api.Get(configMaps(c.ns)+"/largest", "Accept-Encoding", "gzip").Want(200).Header; h.Get("Content-Encoding") != "gzip" {
			t.Errorf("headers %v", h)
		}
		w := c.api.Watch(configMaps(c.ns)+"?watch=1&labelSelector=size%3Dmost", "Accept-Encoding", "gzip")
		if got := w.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("Content-Encoding %q", got)
		}
		w.Expect("ADDED", "largest")
	})
}

// writesYAMLAndTables shows the encodings for people.
func writesYAMLAndTables(c *cronTabs, one string, typed func(t *testing.T, r *harness.Reply, want string) *harness.Reply) {
	c.run("MT-05 YAML in and out", func(t *testing.T, c *cronTabs) {
		r := typed(t, c.api.Get(c.list("v1"), "Accept", "application/yaml").Want(200), "application/yaml")
		if got := fromYAML(t, r).Str("kind"); got != "CronTabList" {
			t.Errorf("kind %q", got)
		}
		body := "apiVersion: " + c.group + "/v1\nkind: CronTab\nmetadata:\n  name: fromyaml\nspec:\n  host: \"y\"\n  replicas: 3\n"
		r = typed(t, c.api.Post(c.list("v1"), body, "Content-Type", "application/yaml", "Accept", "application/yaml").Want(201), "application/yaml")
		if o := fromYAML(t, r); o.Str("spec.replicas") != "3" || o.Str("metadata.uid") == "" {
			t.Errorf("created %v", o)
		}
		body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fromyaml\ndata:\n  a: b\n"
		c.api.Post(configMaps(c.ns), body, "Content-Type", "application/yaml").Want(201).Equal("data.a", "b")
	})
	c.run("MT-15 MT-16 tables", func(t *testing.T, c *cronTabs) {
		r := typed(t, c.api.Get(c.list("v1")+"?fieldSelector=metadata.name%3Done", "Accept", tableAccept).Want(200), "application/json")
		r.Equal("kind", "Table").Equal("apiVersion", "meta.k8s.io/v1")
		if got := columns(r.Object()); got != "Name:string:0 Host:string:0 Replicas:integer:1" {
			t.Errorf("columns %q", got)
		}
		r.Equal("rows.0.cells.0", "one").Equal("rows.0.cells.1", "one").Equal("rows.0.cells.2", "").
			Equal("rows.0.object.kind", "PartialObjectMetadata").Equal("rows.0.object.metadata.name", "one")
		c.api.Get(one, "Accept", tableAccept).Want(200).Equal("kind", "Table").Equal("rows.0.cells.0", "one")
		if got := columns(c.api.Get(c.list("v1beta1"), "Accept", tableAccept).Want(200).Object()); got != "Name:string:0 Age:date:0" {
			t.Errorf("default columns %q", got)
		}
		if got := columns(c.api.Get(configMaps(c.ns), "Accept", tableAccept).Want(200).Object()); got != "Name:string:0 Data:string:0 Age:string:0" {
			t.Errorf("columns of configmaps %q", got)
		}
		c.api.Get(one+"?includeObject=Object", "Accept", tableAccept).Want(200).Equal("rows.0.object.spec.host", "one")
		c.api.Get(one+"?includeObject=None", "Accept", tableAccept).Want(200).Equal("rows.0.object", "")
	})
	c.run("MT-17 a table falls back to the object", func(t *testing.T, c *cronTabs) {
		c.api.Get(one, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v9, application/json").Want(200).Equal("kind", "CronTab")
		c.api.Get(one, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v9").Want(406)
	})
}

// leavesMetadataOnly shows objects and collections without the rest.
func leavesMetadataOnly(c *cronTabs, one string, typed func(t *testing.T, r *harness.Reply, want string) *harness.Reply) {
	c.run("MT-18 metadata only", func(t *testing.T, c *cronTabs) {
		o := typed(t, c.api.Get(one, "Accept", metaAccept).Want(200), "application/json").
			Equal("kind", "PartialObjectMetadata").Equal("apiVersion", "meta.k8s.io/v1").Equal("metadata.name", "one").Object()
		if len(o) != 3 {
			t.Errorf("more than metadata: %v", o)
		}
		l := c.api.Get(c.list("v1"), "Accept", metaList).Want(200).Equal("kind", "PartialObjectMetadataList").
			Equal("items.0.kind", "PartialObjectMetadata").Equal("items.0.spec", "").Object()
		if l.RV() == "" || len(l.Items()) == 0 {
			t.Errorf("list %v", l)
		}
		// Of a collection the list is meant, as the documentation has it; to
		// kube-apiserver it has to be named.
		at := "?resourceVersionMatch=Exact&resourceVersion=" + l.RV()
		for _, path := range []string{c.list("v1"), c.list("v1beta1"), namespacePath, "/apis/apps/v1/deployments"} {
			if c.s.External {
				c.api.Get(path, "Accept", metaAccept).Want(406)
				continue
			}
			named, meant := c.api.Get(path+at, "Accept", metaList).Want(200), c.api.Get(path+at, "Accept", metaAccept).Want(200)
			o := meant.Equal("kind", "PartialObjectMetadataList").Object()
			if o.RV() == "" || o.Names() != named.Object().Names() {
				t.Errorf("%s: %v", path, o)
			}
			for _, item := range o.Items() {
				if item.Str("kind") != "PartialObjectMetadata" || len(item) != 3 {
					t.Errorf("%s: more than metadata: %v", path, item)
				}
			}
		}
		c.api.Get(one, "Accept", metaList).Want(406)
		w := c.api.Watch(c.list("v1")+"?watch=1&resourceVersion="+l.RV(), "Accept", metaAccept)
		c.touch("one", "18")
		if e := w.Expect("MODIFIED", "one"); e.Object.Str("kind") != "PartialObjectMetadata" || e.Object.Str("spec") != "" {
			t.Errorf("event %v", e.Object)
		}
	})
	c.run("MT-20 metadata is preferred over the fallback", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1"), "Accept", metaList+",application/json;q=0.9").Want(200).Equal("kind", "PartialObjectMetadataList")
		c.api.Get(one, "Accept", "application/json;q=0.9,"+metaAccept).Want(200).Equal("kind", "PartialObjectMetadata").Equal("spec", "")
		c.api.Get(one, "Accept", metaAccept+";q=0.5,application/json").Want(200).Equal("kind", "CronTab")
		// What is no object has no metadata to send.
		for _, path := range []string{"/apis", "/api/v1", "/apis/" + c.group + "/v1"} {
			c.api.Get(path, "Accept", metaAccept).Want(406)
			c.api.Get(path, "Accept", metaAccept+",application/json;q=0.9").Want(200)
		}
	})
}

func fromYAML(t testing.TB, r *harness.Reply) object {
	t.Helper()
	var o object
	if err := yaml.Unmarshal(r.Body, &o); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	if strings.HasPrefix(string(r.Body), "{") {
		t.Errorf("the reply is JSON: %s", r.Body)
	}
	return o
}

// columns prints a table's columns as name:type:priority.
func columns(table object) string {
	all, _ := table["columnDefinitions"].([]any)
	var out []string
	for _, c := range all {
		c := object(c.(map[string]any))
		out = append(out, c.Str("name")+":"+c.Str("type")+":"+c.Str("priority"))
	}
	return strings.Join(out, " ")
}
