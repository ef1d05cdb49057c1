package managedfields_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/managedfields"
)

// scenario is what several managers do to one object, one after the other,
// with everything that is to come of it. Write n happens at second n.
type scenario struct {
	kind  *crd.Definition
	steps []step
}

// step is one write, of a body in the short form of [flow].
type step struct {
	update, apply string // the manager: one of the two
	force         bool
	version       string // v1 if empty
	sub           string
	body          string
	managed       string // what a client sends as managedFields; what is there if empty

	redefine *crd.Definition // before this write

	want    string // all entries, in the short form of [short]
	object  string // the merged object of an apply; not looked at if empty
	refused string // the message of the error
	causes  string // field: message, one a line
}

var base = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *scenario) run(t *testing.T) {
	t.Helper()
	kind := managedfields.NewKind(s.kind)
	def := s.kind
	var live map[string]any
	var managed []byte
	for i, st := range s.steps {
		if st.redefine != nil {
			def, kind = st.redefine, managedfields.NewKind(st.redefine)
		}
		version := st.version
		if version == "" {
			version = "v1"
		}
		c := managedfields.Change{
			Version: version, Subresource: st.sub, Force: st.force, Time: base.Add(time.Duration(i) * time.Second),
			LiveManaged: managed, NewManaged: managed, Manager: st.update + st.apply,
		}
		if live != nil {
			c.Live = rename(live, apiVersionOf(live), version, def)
		}
		c.New = body(t, def, version, st.body)
		if st.managed != "" {
			c.NewManaged = []byte(st.managed)
		}
		c.Versions = &renaming{def: def, c: c}
		var out managedfields.Outcome
		var err error
		if st.apply != "" {
			out, err = kind.Apply(context.Background(), c)
		} else {
			out, err = kind.Update(context.Background(), c)
			out.Tree = c.New
		}
		if !st.checkError(t, i, err) {
			continue
		}
		if got := short(t, out.Managed); got != strings.TrimSpace(st.want) {
			t.Errorf("write %d: managedFields are\n%s\nnot\n%s", i, got, st.want)
		}
		if st.object != "" {
			if got := plain(out.Tree); got != st.object {
				t.Errorf("write %d: the object is\n%s\nnot\n%s", i, got, st.object)
			}
		}
		live, managed = stored(out.Tree), out.Managed
	}
}

// checkError tells whether the write succeeded.
func (st *step) checkError(t *testing.T, i int, err error) bool {
	t.Helper()
	if st.refused == "" {
		if err != nil {
			t.Errorf("write %d: %v", i, err)
		}
		return err == nil
	}
	if err == nil || err.Error() != st.refused {
		t.Errorf("write %d: refused with\n%v\nnot\n%s", i, err, st.refused)
		return false
	}
	var causes []string
	if status, ok := err.(apierrors.APIStatus); ok && status.Status().Details != nil {
		for _, c := range status.Status().Details.Causes {
			causes = append(causes, c.Field+": "+c.Message)
		}
	}
	if got := strings.Join(causes, "\n"); got != st.causes {
		t.Errorf("write %d: the causes are\n%s\nnot\n%s", i, got, st.causes)
	}
	return false
}

// body is an object in JSON without apiVersion and kind.
func body(t *testing.T, def *crd.Definition, version, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out["apiVersion"], out["kind"] = def.APIVersion(version), def.Kind
	return out
}

// stored is an object as it is read again: with a uid.
func stored(tree map[string]any) map[string]any {
	out := cloneTree(tree)
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	meta["uid"] = "u"
	return out
}

// plain is an object without what all objects have.
func plain(tree map[string]any) string {
	out := maps.Clone(tree)
	delete(out, "apiVersion")
	delete(out, "kind")
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "uid")
		if out["metadata"] = meta; len(meta) == 0 {
			delete(out, "metadata")
		}
	}
	return asJSON(out)
}

func apiVersionOf(tree map[string]any) string {
	s, _ := tree["apiVersion"].(string)
	return s[strings.LastIndex(s, "/")+1:]
}

// renaming converts Foo: what is spec.size at v1beta1 is spec.replicas at v1.
type renaming struct {
	def *crd.Definition
	c   managedfields.Change
}

func (r *renaming) Live(ctx context.Context, version string) (map[string]any, error) {
	return r.Convert(ctx, r.c.Live, r.c.Version, version)
}

func (r *renaming) New(ctx context.Context, version string) (map[string]any, error) {
	return r.Convert(ctx, r.c.New, r.c.Version, version)
}

func (r *renaming) Convert(_ context.Context, tree map[string]any, from, to string) (map[string]any, error) {
	if r.def.Version(to) == nil {
		return nil, fmt.Errorf("to %s: %w", to, managedfields.ErrNoVersion)
	}
	return rename(tree, from, to, r.def), nil
}

func rename(tree map[string]any, from, to string, def *crd.Definition) map[string]any {
	out := cloneTree(tree)
	out["apiVersion"] = def.APIVersion(to)
	spec, _ := out["spec"].(map[string]any)
	names := map[string]string{"v1": "replicas", "v1beta1": "size"}
	if v, ok := spec[names[from]]; ok {
		delete(spec, names[from])
		spec[names[to]] = v
	}
	return out
}

// short writes entries one a line: manager, operation, version, subresource,
// the second, and the fields.
func short(t *testing.T, managed []byte) string {
	t.Helper()
	if managed == nil {
		return ""
	}
	type entry struct {
		Manager, Operation, APIVersion, FieldsType, Subresource string
		Time                                                    *time.Time
		FieldsV1                                                json.RawMessage
	}
	var list []entry
	if err := json.Unmarshal(managed, &list); err != nil {
		t.Fatalf("%v: %s", err, managed)
	}
	var lines []string
	for _, e := range list {
		line := []string{e.Manager, e.Operation, e.APIVersion}
		if e.Subresource != "" {
			line = append(line, e.Subresource)
		}
		if e.Time != nil {
			line = append(line, fmt.Sprint("@", int(e.Time.Sub(base)/time.Second)))
		}
		lines = append(lines, strings.Join(append(line, string(e.FieldsV1)), " "))
	}
	return strings.Join(lines, "\n")
}

// define compiles Foo of example.com with the properties of spec at v1 and,
// if there are any, at v1beta1.
func define(t *testing.T, v1, v1beta1 string) *crd.Definition {
	t.Helper()
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name, c.UID = "foos.example.com", "u"
	c.Spec.Group, c.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Singular: "foo", Kind: "Foo", ListKind: "FooList"}
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	for name, properties := range map[string]string{"v1": v1, "v1beta1": v1beta1} {
		if properties == "" {
			continue
		}
		s := &apiextensionsv1.JSONSchemaProps{}
		text := `{"type":"object","properties":{"spec":{"type":"object","properties":{` + properties + `}},
			"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
		if err := json.Unmarshal([]byte(text), s); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: name == "v1",
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		})
	}
	d, err := custom.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func builtIn(t *testing.T, kind string) *crd.Definition {
	t.Helper()
	all, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Kind == kind {
			return d
		}
	}
	t.Fatalf("no kind %s", kind)
	return nil
}
