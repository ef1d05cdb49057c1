package admitting

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// forged is an entry that anybody could have made; edit replaces parts of it.
func forged(edit ...string) string {
	return strings.NewReplacer(edit...).Replace(`{"manager":"root","operation":"Update","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}`)
}

// What a webhook says about owners is stored if field management can read it;
// else what there was stays, and the client is warned in kube-apiserver's words.
// The replies were read off kube-apiserver 1.36.3. Entries of the API's own form
// are raw bytes within a tree, others are trees: both are judged.
func TestManagedFieldsOfWebhooksAreJudged_SSA29(t *testing.T) {
	const invalid = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: "
	w := newWorld(t)
	w.configure("mutating", "m", "*", "v1", "*", "")
	for name, c := range map[string]struct {
		value, warned, refused string
		// stored is a part of what is; "" for the client's own entry.
		stored string
	}{
		"fields that are none":         {value: `[{"manager":"root","fieldsV1":"x"}]`, warned: "operation must be `Apply` or `Update`"},
		"an operation that is none":    {value: `[` + forged("Update", "Odd") + `]`, warned: "operation must be `Apply` or `Update`"},
		"fields of another type":       {value: `[` + forged(`"FieldsV1"`, `"X"`) + `]`, warned: `invalid fieldsType "X" in managed fields entry 0`},
		"fields of no type":            {value: `[` + forged(`"fieldsType":"FieldsV1",`, ``) + `]`, warned: "missing fieldsType in managed fields entry 0"},
		"no version":                   {value: `[` + forged(`"apiVersion":"v1",`, ``) + `]`, warned: "apiVersion must not be empty"},
		"fields that are a text":       {value: `[` + forged(`{"f:data":{"f:k":{}}}`, `"x"`) + `]`, warned: "error decoding versioned set from {root Update v1 2020-01-01 00:00:00 +0000 UTC FieldsV1 \"x\" }"},
		"nothing for an entry":         {value: `[null]`, warned: "operation must be `Apply` or `Update`"},
		"the second one is wrong":      {value: `[` + forged() + `,` + forged("Update", "Odd") + `]`, warned: "operation must be `Apply` or `Update`"},
		"a field that entries lack":    {value: `[` + forged(`"manager"`, `"odd":1,"manager"`) + `]`, stored: `"fieldsV1":{"f:data":{"f:k":{}}},"manager":"root","operation":"Update"`},
		"well-formed":                  {value: `[` + forged() + `]`, stored: `"manager":"root","operation":"Update"`},
		"well-formed, of an apply":     {value: `[` + forged("Update", "Apply") + `]`, stored: `"manager":"root","operation":"Apply"`},
		"of a version that is not":     {value: `[` + forged(`"v1"`, `"v9"`) + `]`, stored: `"apiVersion":"v9"`},
		"without a time":               {value: `[` + forged(`"time":"2020-01-01T00:00:00Z",`, ``) + `]`, stored: `"manager":"root"`},
		"a manager with a long name":   {value: `[` + forged("root", strings.Repeat("m", 129)) + `]`, refused: "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes"},
		"a manager of two lines":       {value: `[` + forged("root", `a\nb`) + `]`, refused: `metadata.managedFields[0].manager: Invalid value: "a\nb": invalid character U+000A (at position 1)`},
		"a subresource of a long name": {value: `[` + forged(`"manager"`, `"subresource":"`+strings.Repeat("s", 257)+`","manager"`) + `]`, refused: "metadata.managedFields[0].subresource: Too long"},
		"a text":                       {value: `"x"`, refused: "cannot unmarshal string into Go struct field ObjectMeta."},
		"a time that is none":          {value: `[` + forged("2020-01-01T00:00:00Z", "soon") + `]`, refused: `parsing time "soon"`},
	} {
		for _, of := range []struct{ group, plural, body string }{{"", "configmaps", `"data":{"k":"v"}`}, {"example.com", "crontabs", `"host":"h"`}} {
			plural := of.plural
			w.answer = func(string, map[string]any) string {
				return patch(`[{"op":"replace","path":"/metadata/managedFields","value":` + c.value + `}]`)
			}
			var warned []string
			o := alice
			o.Warn = func(text string) { warned = append(warned, text) }
			got, err := w.try(of.group, plural, "v1", `{"metadata":{"generateName":"a-"},`+of.body+`}`, o)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s %s: %s, %v, want %s", plural, name, got, err, c.refused)
				}
				continue
			}
			want := c.stored
			if want == "" {
				want = `"manager":"m","operation":"Update"`
			}
			if err != nil || !strings.Contains(got, want) || strings.Count(got, `"manager":`) != 1 || strings.Contains(got, "odd") {
				t.Errorf("%s %s: %s, %v, want %s", plural, name, got, err, want)
			}
			said := strings.Join(warned, "\n")
			if c.warned == "" && said != "" || c.warned != "" && !strings.HasPrefix(said, invalid+c.warned) {
				t.Errorf("%s %s: warned %q, want %q", plural, name, said, invalid+c.warned)
			}
		}
	}
}

// Of a change what the client's own change made of the owners stays, and who
// applies later still can.
func TestManagedFieldsOfAWebhookDoNotLockAnObject_SSA29(t *testing.T) {
	w := newWorld(t)
	w.create("", "configmaps", "", `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	w.configure("mutating", "m", "", "v1", "configmaps", "")
	w.answer = func(string, map[string]any) string {
		return patch(`[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"root","fieldsV1":"x"}]}]`)
	}
	one := w.target("", "configmaps", "", "a")
	out, err := w.Patch(t.Context(), one, types.MergePatchType, []byte(`{"data":{"l":"w"}}`), alice)
	if err != nil || !strings.Contains(string(out.Object), `"fieldsV1":{"f:data":{".":{},"f:k":{},"f:l":{}}},"manager":"m"`) {
		t.Errorf("%s, %v", out.Object, err)
	}
	apply := resource.WriteOptions{Caller: resource.Caller{User: alice.Caller.User, FieldManager: "applier"}}
	out, err = w.Apply(t.Context(), one, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"n": "x"}}, apply)
	if err != nil || !strings.Contains(string(out.Object), `"manager":"applier"`) || !strings.Contains(string(out.Object), `"manager":"m"`) {
		t.Errorf("%v", err)
	}
}

// A change of nothing but metadata, which no version's schema is asked about, is
// judged as well.
func TestManagedFieldsOfAChangeOfMetadataAreJudged_SSA29(t *testing.T) {
	w := newWorld(t)
	w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a","finalizers":["example.com/a","example.com/b"]},"host":"h"}`)
	w.configure("mutating", "m", "example.com", "v1", "crontabs", "")
	gr := schema.GroupResource{Group: "example.com", Resource: "crontabs"}
	for _, c := range [][2]string{{`[{"manager":"root","operation":"Odd"}]`, `"f:host":{}`}, {`[` + forged() + `]`, `"manager":"root"`}} {
		value, want := c[0], c[1]
		w.answer = func(string, map[string]any) string {
			return patch(`[{"op":"replace","path":"/metadata/managedFields","value":` + value + `}]`)
		}
		err := local.New(w.Engine, resource.Component("x")).UpdateMetadata(t.Context(), gr, "default", "a", metav1.Preconditions{}, func(o metav1.Object) { o.SetFinalizers(o.GetFinalizers()[1:]) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Get(t.Context(), w.target("example.com", "crontabs", "v1", "a"), "", encoding.At("v1"))
		if err != nil || !strings.Contains(string(got.Bytes()), want) {
			t.Errorf("%s: %s, %v", value, got, err)
		}
		w.answer = nil
		if _, err := w.Patch(t.Context(), w.target("example.com", "crontabs", "v1", "a"), types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/a","example.com/b"]}}`), alice); err != nil {
			t.Fatal(err)
		}
	}
}
