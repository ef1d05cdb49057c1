package scale

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

func TestPaths(t *testing.T) {
	p := &crd.Scale{SpecReplicasPath: ".spec.replicas"}
	v := &crd.Version{Subresources: map[string]*crd.Subresource{"scale": {Scale: p}, "status": {}}}
	for subresource, want := range map[string]*crd.Scale{"": nil, "scale": p, "status": nil, "other": nil} {
		if got := Paths(v, subresource); got != want {
			t.Errorf("%q: %v", subresource, got)
		}
	}
	tree := map[string]any{"spec": map[string]any{}}
	if err := Set(p, tree, 3); err != nil || tree["spec"].(map[string]any)["replicas"] != int64(3) || !slices.Equal(Fields(p), []string{"spec", "replicas"}) {
		t.Errorf("%v, %v", tree, err)
	}
}

// What is sent to be a Scale is one of autoscaling/v1, with as many replicas as an int32 holds.
func TestWhatIsSentAsAScale(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"Scale","apiVersion":"autoscaling/v1"}`: "",
		`{"kind":"Pod","apiVersion":"autoscaling/v1"}`:   "Pod cannot be handled as a Scale",
		`{"kind":"Scale","apiVersion":"autoscaling/v2"}`: "the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)",
		`{}`:                               "", // both are known from the path
		`{"spec":{"replicas":2147483648}}`: "json: cannot unmarshal number 2147483648 into Go struct field ScaleSpec.spec.replicas of type int32",
		`{"spec":{"replicas":2147483647,"replicas":1,"x":1}}`: "",
	} {
		s, unknown, err := Parse([]byte(text))
		if err == nil {
			if err = Check(s); err != nil && !apierrors.IsBadRequest(err) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if got := ""; err != nil {
			if got = err.Error(); want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is taken", text)
		}
		if odd := strings.Contains(text, `"x"`); odd != slices.Equal(unknown, []string{`duplicate field "spec.replicas"`, `unknown field "spec.x"`}) {
			t.Errorf("%s: unknown are %q", text, unknown)
		}
	}
	for n, want := range map[any]string{
		int64(2147483647): "", int64(-2147483648): "", int64(2147483648): "json: cannot unmarshal number 2147483648 into Go struct field ScaleSpec.spec.replicas of type int32", "x": "accessor error",
	} {
		got, err := Replicas(map[string]any{"spec": map[string]any{"replicas": n}})
		if (err == nil) != (want == "") || err == nil && got != n || err != nil && (!apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %d, %v", n, got, err)
		}
	}
}

// Metadata is validated with the name and namespace of the object, where the kind does so.
func TestValidate(t *testing.T) {
	s := map[string]any{"metadata": map[string]any{"name": "other", "labels": map[string]any{"a": "b"}}}
	if err := Validate(&crd.Scale{}, s, "one", "default"); err != nil {
		t.Error(err)
	}
	var seen metav1.ObjectMeta
	refuses := false
	p := &crd.Scale{ValidateMetadata: func(m *metav1.ObjectMeta) field.ErrorList {
		if seen = *m; refuses {
			return field.ErrorList{field.Required(field.NewPath("metadata"), "no")}
		}
		return nil
	}}
	if err := Validate(p, s, "one", "default"); err != nil || seen.Name != "one" || seen.Namespace != "default" || seen.Labels["a"] != "b" {
		t.Errorf("%v, %+v", err, seen)
	}
	refuses = true
	if err := Validate(p, s, "one", "default"); !apierrors.IsInvalid(err) || err.Error() != `Scale.autoscaling "one" is invalid: metadata: Required value: no` {
		t.Error(err)
	}
	if err := Validate(p, map[string]any{"metadata": map[string]any{"labels": "x"}}, "one", ""); !apierrors.IsInternalError(err) {
		t.Errorf("metadata that is none: %v", err)
	}
}

// The table of a Scale has its columns unless they are not wanted.
func TestTablesOfScales(t *testing.T) {
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{
		{Object: map[string]any{"metadata": map[string]any{"name": "a", "creationTimestamp": "2000-01-01T00:00:00Z"}, "spec": map[string]any{"replicas": int64(3)}, "status": map[string]any{"replicas": int64(2)}}},
		{Object: map[string]any{"metadata": map[string]any{"name": "b"}}},
	}}
	for name, c := range map[string]struct {
		options runtime.Object
		native  bool
		columns []string
	}{
		"with columns": {&metav1.TableOptions{}, false, []string{"Name string name Name must be unique within", "Desired integer  Number of desired replicas", "Available integer  Number of actual replicas", "Age date  CreationTimestamp is a tim"}},
		"of its own":   {nil, true, []string{"Name string  Name must be unique within", "Desired integer  replicas is the desired nu", "Available integer  replicas is the actual num", "Age string  CreationTimestamp is a tim"}},
		"without":      {&metav1.TableOptions{NoHeaders: true}, false, nil},
	} {
		table, err := Table{Native: c.native}.ConvertToTable(t.Context(), list, c.options)
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for _, x := range table.ColumnDefinitions {
			columns = append(columns, fmt.Sprintf("%s %s %s %.26s", x.Name, x.Type, x.Format, x.Description))
		}
		if !slices.Equal(columns, c.columns) || len(table.Rows) != 2 {
			t.Errorf("%s: %q, %d rows", name, columns, len(table.Rows))
		}
		if a, b := table.Rows[0].Cells, table.Rows[1].Cells; !slices.Equal(a[:3], []any{"a", int64(3), int64(2)}) || !strings.HasSuffix(a[3].(string), "y") || !slices.Equal(b, []any{"b", int64(0), int64(0), "<unknown>"}) {
			t.Errorf("%s: %v, %v", name, a, b)
		}
	}
}
