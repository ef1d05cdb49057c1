package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	asMessage  = "Accept: " + encoding.TypeProtobuf
	partMeta   = ";g=meta.k8s.io;v=v1;as=PartialObjectMetadata"
)

func configMap(name, value string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"l":"` + name + `"}},"data":{"k":"` + value + `"}}`
}

// message is a body in protobuf, read into its Go type, which is returned with
// what it says that it is.
func (r *answer) message(into interface{ Unmarshal([]byte) error }) string {
	r.t.Helper()
	if r.ContentType != encoding.TypeProtobuf {
		r.t.Fatalf("%d %s %.300q", r.Code, r.ContentType, r.body)
	}
	return opened(r.t, []byte(r.body), into)
}

func opened(t testing.TB, data []byte, into interface{ Unmarshal([]byte) error }) string {
	t.Helper()
	e, err := wire.Open(data)
	if err == nil {
		err = into.Unmarshal(e.Raw)
	}
	if err != nil {
		t.Fatalf("%v: %.300q", err, data)
	}
	return e.APIVersion + " " + e.Kind
}

// same compares an object with what its JSON says.
func (r *answer) same(got any) {
	r.t.Helper()
	want := reflect.New(reflect.TypeOf(got).Elem())
	if err := json.Unmarshal([]byte(r.body), want.Interface()); err != nil {
		r.t.Fatal(err)
	}
	// Messages do not repeat what the envelope says.
	a, b := got, want.Interface()
	if o, ok := b.(runtime.Object); ok {
		a.(runtime.Object).GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		r.t.Errorf("as protobuf\n%s\nas JSON\n%s", x, y)
	}
}

func TestObjectsInProtobuf_MT06(t *testing.T) {
	w := newWorld(t)
	var created, read, again corev1.ConfigMap
	if is := w.do("POST", configMaps, configMap("one", "v"), asMessage).want(201, "").message(&created); is != "v1 ConfigMap" {
		t.Errorf("created a %s", is)
	}
	asJSON := w.do("GET", configMaps+"/one", "").want(200, `"k":"v"`)
	asJSON.same(&created)
	for range 2 { // decoded once, and not again
		read = corev1.ConfigMap{}
		if is := w.do("GET", configMaps+"/one", "", asMessage).want(200, "").message(&read); is != "v1 ConfigMap" {
			t.Errorf("read a %s", is)
		}
		asJSON.same(&read)
	}
	w.do("PATCH", configMaps+"/one", `{"data":{"k":"w"}}`, "Content-Type: application/merge-patch+json", asMessage).want(200, "").message(&again)
	if again.Data["k"] != "w" || again.ResourceVersion == read.ResourceVersion || again.ResourceVersion == "" {
		t.Errorf("patched: %v", again)
	}
	// A definition is stored as JSON, and at another version.
	var c apiextensionsv1.CustomResourceDefinition
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
	for range 2 {
		c = apiextensionsv1.CustomResourceDefinition{}
		if is := w.do("GET", crds, "", asMessage).want(200, "").message(&c); is != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
			t.Errorf("read a %s", is)
		}
		w.do("GET", crds, "").want(200, "").same(&c)
	}
	var s metav1.Status
	if is := w.do("DELETE", configMaps+"/one", "", asMessage).want(200, "").message(&s); is != "v1 Status" || s.Status != "Success" || s.Details.Name != "one" {
		t.Errorf("deleted: %s %v", is, s)
	}
	if is := w.do("GET", configMaps+"/one", "", asMessage).want(404, "").message(&s); is != "v1 Status" || s.Reason != metav1.StatusReasonNotFound || s.Code != 404 {
		t.Errorf("gone: %s %v", is, s)
	}
}

func TestListsInProtobuf_MT06_MT14(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.do("POST", configMaps, configMap(name, strings.Repeat(name, 40<<10)[:900]), asMessage).want(201, "")
	}
	for _, query := range []string{"", "?limit=2", "?labelSelector=l=b", "?labelSelector=l=none", "?resourceVersion=0"} {
		var l corev1.ConfigMapList
		if is := w.do("GET", configMaps+query, "", asMessage).want(200, "").message(&l); is != "v1 ConfigMapList" {
			t.Errorf("listed a %s", is)
		}
		w.do("GET", configMaps+query, "").want(200, "").same(&kindless{&l})
	}
	var l corev1.ConfigMapList
	w.do("DELETE", configMaps, "", asMessage).want(200, "").message(&l)
	if len(l.Items) != 3 || l.Items[2].Name != "c" {
		t.Errorf("deleted %v", l)
	}
	w.do("GET", configMaps, "", asMessage).want(200, "").message(&l)
}

// kindless is a list whose items do not repeat their kind, which messages leave
// out.
type kindless struct{ *corev1.ConfigMapList }

func (k *kindless) UnmarshalJSON(data []byte) error {
	k.ConfigMapList = &corev1.ConfigMapList{}
	if err := json.Unmarshal(data, k.ConfigMapList); err != nil {
		return err
	}
	if len(k.Items) == 0 {
		k.Items = nil
	}
	for i := range k.Items {
		k.Items[i].TypeMeta = metav1.TypeMeta{}
	}
	return nil
}

func TestMetadataInProtobuf_MT09_MT19(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	const v1beta1 = "/apis/example.com/v1beta1/namespaces/default/widgets"
	w.converter.broken.Store(true) // metadata needs no converter
	for _, path := range []string{configMaps, widgets, v1beta1} {
		for range 2 {
			var o metav1.PartialObjectMetadata
			if is := w.do("GET", path+"/one", "", asMessage+partMeta).want(200, "").message(&o); is != "meta.k8s.io/v1 PartialObjectMetadata" {
				t.Errorf("%s is a %s", path, is)
			}
			w.do("GET", path+"/one", "", "Accept: application/json"+partMeta).want(200, "").same(&o)
			var l metav1.PartialObjectMetadataList
			if is := w.do("GET", path, "", asMessage+partMeta+"List").want(200, "").message(&l); is != "meta.k8s.io/v1 PartialObjectMetadataList" {
				t.Errorf("%s is a %s", path, is)
			}
			if len(l.Items) != 1 || !reflect.DeepEqual(l.Items[0].ObjectMeta, o.ObjectMeta) || l.ResourceVersion == "" {
				t.Errorf("%s: %v", path, l)
			}
		}
		w.do("GET", path+"/one", "", asMessage+partMeta+"List").want(406, "")
		w.do("GET", path+"/one", "", "Accept: application/json;g=meta.k8s.io;v=v1beta1;as=PartialObjectMetadata").want(200, `"apiVersion":"meta.k8s.io/v1beta1"`)
		w.do("GET", path, "", "Accept: application/json;g=meta.k8s.io;v=v1beta1;as=PartialObjectMetadataList").want(200, `"apiVersion":"meta.k8s.io/v1beta1"`).
			without(`"meta.k8s.io/v1"`)
		w.do("GET", path, "", "Accept: application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList").want(200, `"apiVersion":"meta.k8s.io/v1"`)
	}
	w.converter.broken.Store(false)
	var s metav1.Status
	w.do("GET", widgets+"/one", "", asMessage).want(406, "").message(&s)
	if s.Message != "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf" {
		t.Errorf("whole widgets: %v", s)
	}
	if r := w.do("GET", widgets+"/one", "", asMessage+",application/json").want(200, `"size":1`); r.ContentType != encoding.TypeJSON {
		t.Errorf("%s", r.ContentType)
	}
	var o metav1.PartialObjectMetadata
	w.do("PATCH", widgets+"/one", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: application/merge-patch+json", asMessage+partMeta).want(200, "").message(&o)
	if o.Labels["a"] != "b" {
		t.Errorf("patched: %v", o)
	}
}

// gathered is a client of a stream that wants bytes.
type gathered struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	flush chan struct{}
}

func (g *gathered) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.Write(p)
}

func (g *gathered) Frame(head, body []byte, tail string) {
	_, _ = g.Write(slices.Concat(head, body, []byte(tail)))
}

func (*gathered) Hold(func() bool) {}

func (g *gathered) Flush() error {
	select {
	case g.flush <- struct{}{}:
	default:
	}
	return nil
}

// event takes the next frame of protobuf.
func (g *gathered) event(t *testing.T) (kind string, object []byte) {
	t.Helper()
	for {
		g.mu.Lock()
		if b := g.buf.Bytes(); len(b) >= 4 && len(b) >= 4+int(binary.BigEndian.Uint32(b)) {
			frame := append([]byte(nil), g.buf.Next(4 + int(binary.BigEndian.Uint32(b)))[4:]...)
			g.mu.Unlock()
			var e metav1.WatchEvent
			if err := e.Unmarshal(frame); err != nil {
				t.Fatal(err)
			}
			return e.Type, e.Object.Raw
		}
		g.mu.Unlock()
		select {
		case <-g.flush:
		case <-time.After(patience):
			t.Fatal("no event came")
		}
	}
}

func (w *world) gather(t *testing.T, url string, headers ...string) *gathered {
	t.Helper()
	resp := w.Serve(request("GET", url, "", headers...))
	if resp.Stream == nil || resp.ContentType != encoding.TypeProtobuf+";stream=watch" {
		t.Fatalf("no stream of protobuf: %d %s %s", resp.Code, resp.ContentType, resp.Body)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g, done := &gathered{flush: make(chan struct{}, 1)}, make(chan struct{})
	go func() { defer close(done); resp.Stream(ctx, g) }()
	t.Cleanup(func() { cancel(); <-done })
	return g
}

func TestWatchesInProtobuf_WATCH01_WATCH09(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	const initial = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	g := w.gather(t, configMaps+initial, asMessage)
	want := func(kind, is, name string, into interface {
		metav1.Object
		Unmarshal([]byte) error
	}) {
		t.Helper()
		k, data := g.event(t)
		if got := opened(t, data, into); k != kind || got != is || into.GetName() != name {
			t.Errorf("%s %s %s, want %s %s %s", k, got, into.GetName(), kind, is, name)
		}
	}
	var c corev1.ConfigMap
	want("ADDED", "v1 ConfigMap", "one", &c)
	w.do("GET", configMaps+"/one", "").same(&c)
	c = corev1.ConfigMap{}
	want("BOOKMARK", "v1 ConfigMap", "", &c)
	if c.Annotations[metav1.InitialEventsAnnotationKey] != "true" || c.ResourceVersion == "" {
		t.Errorf("bookmark %v", c)
	}
	w.do("PATCH", configMaps+"/one", `{"data":{"k":"w"}}`, "Content-Type: application/merge-patch+json").want(200, "")
	before := c.ResourceVersion
	want("MODIFIED", "v1 ConfigMap", "one", &c)
	w.do("DELETE", configMaps+"/one", "").want(200, "")
	modified := c.ResourceVersion
	want("DELETED", "v1 ConfigMap", "one", &c)
	if c.Data["k"] != "w" || before == modified || modified == c.ResourceVersion {
		t.Errorf("from %s, modified at %s, deleted: %v", before, modified, c)
	}
	var o metav1.PartialObjectMetadata
	g = w.gather(t, widgets+initial, asMessage+partMeta)
	want("ADDED", "meta.k8s.io/v1 PartialObjectMetadata", "one", &o)
	want("BOOKMARK", "meta.k8s.io/v1 PartialObjectMetadata", "", &metav1.PartialObjectMetadata{})
	w.do("DELETE", widgets+"/one", "").want(200, "")
	deleted := o.ResourceVersion
	want("DELETED", "meta.k8s.io/v1 PartialObjectMetadata", "one", &o)
	if deleted == o.ResourceVersion {
		t.Errorf("a deletion at %s", deleted)
	}
	g = w.gather(t, configMaps+"?watch=1&resourceVersion=1", asMessage+",application/json")
	var s metav1.Status
	if kind, data := g.event(t); kind != "ERROR" || opened(t, data, &s) != "v1 Status" || s.Code != 410 {
		t.Errorf("%s %v", kind, s)
	}
	w.do("GET", widgets+"?watch=1", "", asMessage).want(406, "")
	w.do("GET", configMaps+"?watch=1", "", asMessage+";g=meta.k8s.io;v=v1;as=Table").want(406, "")
}

// What kube-apiserver says to whom it cannot please.
func TestRefusedForms_MT03_MT09(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	const all = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	const streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	for _, c := range []struct{ path, accept, want string }{
		{configMaps + "/one", "text/html", `406: Not Acceptable\n\nAvailable representations: ` + all},
		{configMaps, "text/html", `406: Not Acceptable\n\nAvailable representations: ` + all + ", " + streams},
		{configMaps + "?watch=1", "garbage", `406: Not Acceptable\n\nAvailable representations: ` + all + ", " + streams},
		{configMaps + "/one", "application/json;as=Nix;v=v1;g=meta.k8s.io", "only the following media types are accepted: " + all},
		{configMaps + "/one", "application/json;stream=foo", "only the following media types are accepted: " + all},
		{configMaps + "/one", "application/json;g=x", "only the following media types are accepted: " + all},
		{widgets, "text/html", "only the following media types are accepted: " + all},
		{widgets + "?watch=1", "text/html", "only the following media types are accepted: " + all},
		{widgets + "?watch=1", "application/yaml;stream=watch", "only the following media types are accepted: " + all},
	} {
		r := w.do("GET", c.path, "", "Accept: "+c.accept).want(406, c.want)
		if !strings.HasPrefix(r.body, "{\n  \"") || r.ContentType != encoding.TypeJSON {
			t.Errorf("%s %s: %s %s", c.path, c.accept, r.ContentType, r.body)
		}
	}
	w.do("GET", configMaps+"?watch=1", "", "Accept: application/yaml").want(406, "only the following media types are accepted: application/json;stream=watch,")
	w.do("POST", configMaps, "x", "Content-Type: text/csv").want(415, "accepted media types include: "+all)
}

// A Scale may be protobuf in both directions, whatever it is the scale of.
func TestScaleInProtobuf_MT06(t *testing.T) {
	w := newWorld(t)
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	w.do("POST", deployments, `{"metadata":{"name":"one"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`).want(201, "")
	var s autoscalingv1.Scale
	if is := w.do("GET", deployments+"/one/scale", "", asMessage).want(200, "").message(&s); is != "autoscaling/v1 Scale" || s.Spec.Replicas != 1 || s.Name != "one" {
		t.Errorf("%s %v", is, s)
	}
	s.Spec.Replicas = 3
	raw, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	s = autoscalingv1.Scale{}
	w.do("PUT", deployments+"/one/scale", string(wire.AppendEnvelope(nil, "autoscaling/v1", "Scale", raw)), "Content-Type: "+encoding.TypeProtobuf, asMessage).want(200, "").message(&s)
	if s.Spec.Replicas != 3 {
		t.Errorf("%v", s)
	}
	w.do("GET", deployments+"/one", "").want(200, `"replicas":3`)
	for body, want := range map[string]string{
		"xx":                     "expected prefix [107 56 115 0] (7878)",
		wire.Magic + "\x12\x05a": "unexpected EOF",
		wire.Magic + "\x12\x01x": "EOF",
		string(wire.AppendEnvelope(nil, "apps/v1", "Deployment", nil)): "Deployment",
	} {
		w.do("PUT", deployments+"/one/scale", body, "Content-Type: "+encoding.TypeProtobuf).want(400, want)
	}
	w.do("POST", configMaps, "xx", "Content-Type: "+encoding.TypeProtobuf).want(400,
		"the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (7878)")
}
