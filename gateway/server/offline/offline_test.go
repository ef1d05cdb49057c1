package offline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

func module(t *testing.T, pkg, config string) workbench.Module {
	return workbench.Module{Name: "m.wasm", Content: plugintest.Build(t, pkg), Config: []byte(config)}
}

// widgets is a definition with the properties of v1 and v2.
func widgets(v1, v2 string) []byte { return versions("", v1, v2) }

// versions is widgets whose versions have more to their names.
func versions(more, v1, v2 string) []byte {
	return fmt.Appendf(nil, `
apiVersion: v1
kind: Namespace
metadata: {name: beside}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1%[1]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {%[2]s}}}}
  - {name: v2%[1]s, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {%[3]s}}}}
`, more, v1, v2)
}

func example(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../examples/crontab/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What modules lose is found, and their twins pass.
func TestModulesAreProved(t *testing.T) {
	networks := widgets(`networks: {type: array, items: {type: string}}`, `network: {type: string}`)
	sizes := versions("alpha1", `spec: {type: object, properties: {size: {type: integer, format: int32}, zone: {type: string}}}`,
		`spec: {type: object, properties: {size: {type: integer, format: int32}, zone: {type: string}}}`)
	for _, c := range []struct {
		name        string
		module      workbench.Module
		definitions []byte
		acknowledge []string
		// loses are fields that are found to be lost.
		loses []string
	}{
		{"a list that becomes its first item", module(t, plugintest.Lossy, ``), networks, nil, []string{"networks", "networks[*]"}},
		{"its twin keeps the others", module(t, plugintest.Lossy, `{"keep":true}`), networks, nil, nil},
		{"structs that lack a field, and leave out zeros", module(t, plugintest.Lossy, ``), sizes, nil, []string{"spec.zone", "spec.size"}},
		{"what is acknowledged", module(t, plugintest.Lossy, ``), sizes, []string{"spec"}, nil},
		{"an example that takes too much", module(t, plugintest.CronTab, ``), example(t, "crd-v1.yaml"), nil, []string{"hostPort"}},
		{"its twin", module(t, plugintest.CronTab, ``), example(t, "crd-lossless.yaml"), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			started := time.Now()
			got, err := offline.Tools{}.Prove(t.Context(), workbench.Proof{
				Module: c.module, Definitions: c.definitions, Acknowledged: c.acknowledge, Objects: 150, Budget: 10 * time.Minute, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, with the compiling: %d objects, %d of %d fields", time.Since(started), got.Tried, got.Reached, got.Fields)
			if want := map[bool]string{true: "True", false: "False"}[len(c.loses) == 0]; got.Lossless != want {
				t.Errorf("lossless is %s, want %s: %+v", got.Lossless, want, got)
			}
			for _, field := range c.loses {
				i := slices.IndexFunc(got.Losses, func(l workbench.Loss) bool { return l.Field == field })
				if i < 0 {
					t.Errorf("%s is not among %+v", field, got.Losses)
				} else if n := strings.Count(got.Losses[i].Example, "\n"); n > 15 {
					t.Errorf("the example has %d lines:\n%s", n, got.Losses[i].Example)
				}
			}
		})
	}
}

func TestMistakesAreSaid(t *testing.T) {
	fits := example(t, "crd-v1.yaml")
	crontab := module(t, plugintest.CronTab, ``)
	for _, c := range []struct {
		what workbench.Proof
		want string
	}{
		{workbench.Proof{Module: crontab, Definitions: []byte("a: b")}, "the file has no CustomResourceDefinition"},
		{workbench.Proof{Module: crontab, Definitions: []byte("{")}, "yaml"},
		{workbench.Proof{Module: crontab, Definitions: append(append(slices.Clone(fits), "\n---\n"...), fits...)}, "several CustomResourceDefinitions"},
		{workbench.Proof{Module: crontab, Definitions: fits, Pairs: []string{"v1"}}, `"v1" is no pair of versions: want FROM:TO, for example v1:v1beta1`},
		{workbench.Proof{Module: crontab, Definitions: fits, Pairs: []string{"v1:v7"}}, `"v1:v7" names a version that crontabs.example.com does not have`},
		{workbench.Proof{Module: crontab, Definitions: example(t, "crd-v1beta1.yaml")}, "has one version"},
		{workbench.Proof{Module: workbench.Module{Name: "x.wasm", Content: []byte("no")}, Definitions: fits}, "x.wasm: "},
		{workbench.Proof{Module: answering(plugins.Admit, `{}`), Definitions: fits}, "does not have the hook wasmgate_convert"},
	} {
		if _, err := (offline.Tools{}).Prove(t.Context(), c.what); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestAModuleIsInspected(t *testing.T) {
	is, err := offline.Tools{}.Inspect(t.Context(), module(t, plugintest.CronTab, ``))
	if err != nil || is.Problem != "" || !slices.Equal(is.Hooks, []string{"wasmgate_convert"}) || !slices.Contains(is.Conversions, "v1beta1->v1") ||
		!slices.Contains(is.Exports, "func wasmgate_convert") || len(is.Imports) == 0 {
		t.Errorf("%+v, %v", is, err)
	}
	if !strings.Contains(strings.Join(is.Producers, "; "), "language Go") {
		t.Errorf("the producers are %q", is.Producers)
	}
	is, err = offline.Tools{}.Inspect(t.Context(), workbench.Module{Name: "m", Content: []byte("\x00asm\x01\x00\x00\x00")})
	if err != nil || is.Problem == "" {
		t.Errorf("an empty module: %+v, %v", is, err)
	}
	if _, err = (offline.Tools{}).Inspect(t.Context(), workbench.Module{Name: "m", Content: []byte("text")}); err == nil {
		t.Error("a text is a module")
	}
}

func TestObjectsAreConverted(t *testing.T) {
	what := workbench.Conversion{Module: module(t, plugintest.CronTab, ``), Definitions: example(t, "crd-v1.yaml"), To: "v1", Objects: [][]byte{
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"h:1","more":1}`),
		[]byte(`{"apiVersion":"v1","kind":"ConfigMap"}`),
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"h"}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab"}`),
	}}
	got, err := offline.Tools{}.Convert(t.Context(), what)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"name":"a"},"port":"1"}`; string(got[0].Object) != want || got[0].Problem != "" {
		t.Errorf("got %s, %s, want %s", got[0].Object, got[0].Problem, want)
	}
	if got[1].Object != nil || got[1].Problem != "" {
		t.Errorf("of another kind: %s, %s", got[1].Object, got[1].Problem)
	}
	if !strings.Contains(got[2].Problem, "hostPort") {
		t.Errorf("what cannot be converted: %s, %q", got[2].Object, got[2].Problem)
	}
	if string(got[3].Object) != string(what.Objects[3]) {
		t.Errorf("what is at the version: %s", got[3].Object)
	}
	what.To = "v7"
	if _, err = (offline.Tools{}).Convert(t.Context(), what); err == nil || !strings.Contains(err.Error(), "no version example.com/v7") {
		t.Errorf("to what is not there: %v", err)
	}
}

// What kubectl prints of several objects is converted item by item.
func TestListsAreConverted(t *testing.T) {
	const old = `{"apiVersion":"example.com/v1beta1","hostPort":"h:1","kind":"CronTab","metadata":{"name":"a"}}`
	const now = `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"name":"a"},"port":"1"}`
	what := workbench.Conversion{Module: module(t, plugintest.CronTab, ``), Definitions: example(t, "crd-v1.yaml"), To: "v1", Objects: [][]byte{
		[]byte(`{"apiVersion":"v1","items":[` + old + `,{"apiVersion":"v1","kind":"ConfigMap"},` + old + `],"kind":"List","metadata":{"resourceVersion":""}}`),
		[]byte(`{"apiVersion":"example.com/v1beta1","items":[` + old + `],"kind":"CronTabList"}`),
		[]byte(`{"kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap"}],"apiVersion":"v1"}`),
		[]byte(`{"apiVersion":"v1","kind":"List","items":[` + old + `,{"apiVersion":"example.com/v1beta1","kind":"CronTab","hostPort":"h"}]}`),
		[]byte(`{"apiVersion":"v1","kind":"List"}`),
	}}
	for _, definitions := range [][]byte{what.Definitions, nil} {
		what.Definitions = definitions
		got, err := offline.Tools{}.Convert(t.Context(), what)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			`{"apiVersion":"v1","items":[` + now + `,{"apiVersion":"v1","kind":"ConfigMap"},` + now + `],"kind":"List","metadata":{"resourceVersion":""}}`,
			`{"apiVersion":"example.com/v1","items":[` + now + `],"kind":"CronTabList"}`,
			string(what.Objects[2]), "", "",
		}
		problems := []string{"", "", "", "item 2: ", ""}
		if definitions == nil { // then every object has to be one of the kind
			want[0], want[2] = "", ""
			problems[0], problems[2], problems[4] = "item 2: ", "item 1: ", "the object has no apiVersion of the form GROUP/VERSION"
		}
		for i := range want {
			if string(got[i].Object) != want[i] || !strings.HasPrefix(got[i].Problem, problems[i]) || problems[i] == "" && got[i].Problem != "" {
				t.Errorf("%d, with a definition: %t: got %s, %q\nwant %s, %q", i, definitions != nil, got[i].Object, got[i].Problem, want[i], problems[i])
			}
		}
	}
}

// Who converts in the place of a module is given the items of lists, and objects whose
// kind is only called like one.
func TestListsAreConvertedBySomebodyElse(t *testing.T) {
	what := workbench.Conversion{To: "v1", By: func(_ context.Context, objects [][]byte) ([]workbench.Converted, error) {
		all := make([]workbench.Converted, len(objects))
		for i, obj := range objects {
			switch text := string(obj); {
			case strings.Contains(text, "bad"):
				all[i].Problem = "it cannot"
			case strings.Contains(text, "broken"):
				all[i].Object = []byte(`{`)
			case strings.Contains(text, `"g/v0"`):
				all[i].Object = []byte(strings.Replace(text, "v0", "v1", 1))
			}
		}
		return all, nil
	}}
	var want []workbench.Converted
	for _, c := range []struct{ in, out, problem string }{
		{`{"apiVersion":"v1","items":[{"apiVersion":"g/v0","kind":"A"},{"apiVersion":"v1","kind":"B"}],"kind":"List"}`, `{"apiVersion":"v1","items":[{"apiVersion":"g/v1","kind":"A"},{"apiVersion":"v1","kind":"B"}],"kind":"List"}`, ""},
		{`{"kind":"List","apiVersion":"v1","metadata":{"n":1.0},"items":[{"apiVersion":"v1","kind":"B","n":[1.0,1e3,12345678901234567890123,0.10]},{"n":2.50,"apiVersion":"g/v0","kind":"A"}]}`,
			`{"kind":"List","apiVersion":"v1","metadata":{"n":1.0},"items":[{"apiVersion":"v1","kind":"B","n":[1.0,1e3,12345678901234567890123,0.10]},{"n":2.50,"apiVersion":"g/v1","kind":"A"}]}`, ""},
		{`{"apiVersion":"g/v0","items":["a"],"kind":"PlayList"}`, `{"apiVersion":"g/v1","items":["a"],"kind":"PlayList"}`, ""},
		{`{"apiVersion":"v1","items":[{"apiVersion":"g/v0","kind":"A"},{"apiVersion":"g/v0","kind":"bad"}],"kind":"List"}`, "", "item 2: it cannot"},
		{`{"apiVersion":"v1","items":[{"apiVersion":"g/v0","kind":"A"},{"apiVersion":"g/v0","kind":"broken"}],"kind":"List"}`, "", "item 2: unexpected end of JSON input"},
		{`{"apiVersion":"v1","items":[],"kind":"List"}`, `{"apiVersion":"v1","items":[],"kind":"List"}`, ""},
		{`{"apiVersion":"v1","kind":"B"}`, "", ""},
	} {
		what.Objects = append(what.Objects, []byte(c.in))
		is := workbench.Converted{Problem: c.problem}
		if c.out != "" {
			is.Object = []byte(c.out)
		}
		want = append(want, is)
	}
	got, err := offline.Tools{}.Convert(t.Context(), what)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	what.By = func(context.Context, [][]byte) ([]workbench.Converted, error) {
		cancel(errors.New("it is away"))
		return nil, nil
	}
	if got, err := (offline.Tools{}).Convert(ctx, what); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}

// A sample is converted to the other versions, and what it loses is told.
func TestSamplesAreTried(t *testing.T) {
	what := workbench.Samples{Module: module(t, plugintest.CronTab, ``), Definitions: example(t, "crd-v1.yaml"), Objects: [][]byte{
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"h:1"}`),
		[]byte(`{"apiVersion":"v1","kind":"ConfigMap"}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"host":"h"}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"host":1}`),
	}}
	got, err := offline.Tools{}.Try(t.Context(), what)
	if err != nil {
		t.Fatal(err)
	}
	if s := got[0]; s.Version != "v1beta1" || s.Problem != "" || len(s.Losses) > 0 || len(s.Made) != 1 || !strings.Contains(string(s.Made[0].Object), `"port":"1"`) {
		t.Errorf("what is right: %+v", s)
	}
	if got[1].Version != "" {
		t.Errorf("of another kind: %+v", got[1])
	}
	if s := got[2]; len(s.Losses) != 1 || s.Losses[0].Field != "port" || s.Losses[0].Got != `""` {
		t.Errorf("what gets a port: %+v", s)
	}
	if s := got[3]; !strings.Contains(s.Problem, "host") {
		t.Errorf("what is not valid: %+v", s)
	}
}

// What a module says of who made it is read as far as it goes.
func FuzzInspect(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x14\x09producers\x01\x08language\x01\x02Go\x00"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, module []byte) {
		offline.Producers(module)
	})
}
