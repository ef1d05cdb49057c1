package definition

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestCodec_etcd reads and writes the bytes that kube-apiserver 1.36 put into
// etcd.
func TestCodec_etcd(t *testing.T) {
	want, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	c := Definition().Codec
	tree, err := c.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	if tree["apiVersion"] != "apiextensions.k8s.io/v1" || tree["kind"] != Kind {
		t.Errorf("it is a %v %v", tree["apiVersion"], tree["kind"])
	}
	got, err := c.Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCodec_readsV1(t *testing.T) {
	u := mustCreate(t)
	b, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Definition().Codec.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, u.Object) {
		t.Errorf("got  %v\nwant %v", got, u.Object)
	}
}

func TestCodec_errors(t *testing.T) {
	for _, s := range []string{"", "x", "{}", "null", `{"apiVersion":"v1","kind":"Pod"}`, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`} {
		if _, err := Definition().Codec.Decode([]byte(s)); err == nil {
			t.Errorf("%q was read", s)
		}
	}
}

func TestShape_defaults(t *testing.T) {
	obj := tree(t, bars, "spec.conversion", `{strategy: Webhook, webhook: {clientConfig: {service: {namespace: a, name: b}}, conversionReviewVersions: [v1]}}`)
	if _, err := Definition().Version("v1").Shape.FromClient(obj, true); err != nil {
		t.Fatal(err)
	}
	c, err := FromTree(obj)
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Spec.Names; n.Singular != "bar" || n.ListKind != "BarList" {
		t.Errorf("names: %+v", n)
	}
	if p := c.Spec.Conversion.Webhook.ClientConfig.Service.Port; p == nil || *p != 443 {
		t.Error("CRD-22: the port is not 443")
	}
	plain := mustCreate(t)
	if s, _, _ := unstructured.NestedString(plain.Object, "spec", "conversion", "strategy"); s != "None" {
		t.Errorf("CRD-10: the strategy is %q", s)
	}
	status := plain.Object["status"].(map[string]any)
	if c, ok := status["conditions"]; !ok || c != nil {
		t.Errorf("a new one has conditions %v, not null", c)
	}
}

func TestShape_unknownFields_CRD06(t *testing.T) {
	edits := []string{"spec.version", "v1", "spec.validation", "{}", "spec.subresources", "{}", "spec.additionalPrinterColumns", "[]"}
	want := []string{
		`unknown field "spec.additionalPrinterColumns"`, `unknown field "spec.subresources"`,
		`unknown field "spec.validation"`, `unknown field "spec.version"`,
	}
	s := Definition().Version("v1").Shape
	obj := tree(t, bars, edits...)
	got, err := s.FromClient(obj, true)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, ok := obj["spec"].(map[string]any)["version"]; ok {
		t.Error("an unknown field is still there")
	}
	if got, err := s.FromClient(tree(t, bars, edits...), false); err != nil || got != nil {
		t.Errorf("not strict: got %q, %v", got, err)
	}
}

func TestShape_types_FV01(t *testing.T) {
	s := Definition().Version("v1").Shape
	for _, c := range []struct{ path, value, want string }{
		{"spec.versions", "x", `json: cannot unmarshal string into Go struct field CustomResourceDefinitionSpec.spec.versions of type []v1.CustomResourceDefinitionVersion`},
		{"metadata.labels", "{a: 1}", `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string`},
		{"spec", "[]", `json: cannot unmarshal array into Go struct field CustomResourceDefinition.spec of type v1.CustomResourceDefinitionSpec`},
	} {
		for _, strict := range []bool{true, false} {
			if _, err := s.FromClient(tree(t, bars, c.path, c.value), strict); err == nil || err.Error() != c.want {
				t.Errorf("%s: got %v", c.path, err)
			}
		}
	}
}

func TestTable(t *testing.T) {
	u := mustCreate(t)
	table, err := Definition().Version("v1").Table.ConvertToTable(context.Background(), u, &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range table.ColumnDefinitions {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, ","); got != "Name,Created At" {
		t.Errorf("MT-16: columns %s", got)
	}
	if len(table.Rows) != 1 || table.Rows[0].Cells[0] != "bars.example.com" {
		t.Errorf("rows: %v", table.Rows)
	}
}

func TestDefinition_CRD07(t *testing.T) {
	d := Definition()
	if len(d.Versions) != 1 || d.Versions[0].Name != "v1" || d.StorageVersion != "v1" {
		t.Errorf("versions: %v", d.Versions)
	}
	if !d.Versions[0].Served || d.Namespaced {
		t.Error("it is not served, or in namespaces")
	}
	if d.Versions[0].Shape.Canonical(mustCreate(t).Object) {
		t.Error("an object is said to be settled that the codec did not see")
	}
	if s := d.Versions[0].OpenAPISchema(); s == nil || s.Properties["spec"].Properties["versions"].Type != "array" {
		t.Error("it has no schema")
	}
}

func TestBeforeDelete(t *testing.T) {
	d := Definition()
	u := mustCreate(t)
	if err := d.Hooks.BeforeDelete(context.Background(), nil, u.Object); err != nil || d.Hooks.StillFinalizing(u.Object) {
		t.Fatal(err)
	}
	if f := u.GetFinalizers(); len(f) != 1 || f[0] != "customresourcecleanup.apiextensions.k8s.io" {
		t.Errorf("finalizers: %v", f)
	}
	c, err := FromTree(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	cond := findCondition(&c.Status, apiextensionsv1.Terminating)
	if cond == nil || cond.Status != "True" || cond.Reason != "InstanceDeletionPending" ||
		cond.Message != "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon" {
		t.Errorf("condition: %+v", cond)
	}
	if u.GetDeletionTimestamp() == nil || u.GetGeneration() != 1 {
		t.Errorf("deleted at %v, generation %d", u.GetDeletionTimestamp(), u.GetGeneration())
	}
	before := u.DeepCopy()
	if err := d.Hooks.BeforeDelete(context.Background(), nil, u.Object); err != nil || !reflect.DeepEqual(u, before) {
		t.Errorf("a second deletion: %v, %v", u.Object, err)
	}
	if err := d.Hooks.BeforeDelete(context.Background(), nil, map[string]any{"spec": 1.5}); err == nil {
		t.Error("an unreadable object: no error")
	}
}

func FuzzCodec(f *testing.F) {
	b, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":1,"items":[{}],"additionalProperties":true}}}]}}`))
	d := Definition()
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := d.Codec.Decode(data)
		if err != nil {
			return
		}
		if _, err := d.Codec.Encode(tree); err != nil {
			t.Fatalf("%q does not encode: %v", data, err)
		}
		if _, err := d.Versions[0].Shape.FromClient(tree, true); err != nil {
			t.Fatalf("%q has no shape: %v", data, err)
		}
	})
}

func FuzzShape(f *testing.F) {
	f.Add([]byte(`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":null,"enum":[1]}}}]},"metadata":{"name":1}}`))
	d := Definition()
	f.Fuzz(func(t *testing.T, data []byte) {
		var obj map[string]any
		if json.Unmarshal(data, &obj) != nil || obj == nil {
			return
		}
		if _, err := d.Versions[0].Shape.FromClient(obj, true); err != nil {
			return
		}
		u := &unstructured.Unstructured{Object: obj}
		d.Versions[0].Strategy.Prepare(context.Background(), u, nil)
		d.Versions[0].Strategy.Validate(context.Background(), u, nil)
	})
}
