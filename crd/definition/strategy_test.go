package definition

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
)

const bars = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bars.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: bars, kind: Bar}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// tree parses YAML and sets the fields given as path, value, path, value...; a
// path is written a.b.c and the values are YAML ("" removes the field).
func tree(t testing.TB, base string, edits ...string) map[string]any {
	t.Helper()
	out := parseYAML(t, base).(map[string]any)
	for i := 0; i < len(edits); i += 2 {
		path := strings.Split(edits[i], ".")
		m := out
		for _, p := range path[:len(path)-1] {
			m = m[p].(map[string]any)
		}
		if last := path[len(path)-1]; edits[i+1] == "" {
			delete(m, last)
		} else {
			m[last] = parseYAML(t, edits[i+1])
		}
	}
	return out
}

func parseYAML(t testing.TB, s string) any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := object.Parse([]byte(`{"v":` + string(b) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return out["v"]
}

// create does what the engine does to a new object, as far as this package is
// concerned.
func create(t testing.TB, obj map[string]any) (*unstructured.Unstructured, error) {
	t.Helper()
	v := Definition().Version("v1")
	u := &unstructured.Unstructured{Object: obj}
	if _, err := v.Shape.FromClient(obj, true); err != nil {
		return nil, err
	}
	v.Strategy.Prepare(context.Background(), u, nil)
	return u, invalid(u, v.Strategy.Validate(context.Background(), u, nil).Errors)
}

// update writes obj over old, through the subresource status if so told.
func update(t testing.TB, obj, old *unstructured.Unstructured, status bool) error {
	t.Helper()
	v := Definition().Version("v1")
	if _, err := v.Shape.FromClient(obj.Object, true); err != nil {
		return err
	}
	obj.SetResourceVersion("1")
	old.SetResourceVersion("1")
	if status {
		s := v.Subresources["status"].Update
		s.Prepare(context.Background(), obj, old)
		return invalid(obj, s.Validate(context.Background(), obj, old).Errors)
	}
	v.Strategy.Prepare(context.Background(), obj, old)
	return invalid(obj, v.Strategy.Validate(context.Background(), obj, old).Errors)
}

func invalid(u *unstructured.Unstructured, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(apiextensionsv1.Kind(Kind), u.GetName(), errs)
}

func mustCreate(t testing.TB, edits ...string) *unstructured.Unstructured {
	t.Helper()
	u, err := create(t, tree(t, bars, edits...))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestValidate compares with what kube-apiserver answers to the same objects.
func TestValidate(t *testing.T) {
	const isInvalid = `CustomResourceDefinition.apiextensions.k8s.io "bars.example.com" is invalid: `
	webhook := func(config, reviews string) string {
		return `{strategy: Webhook, webhook: {clientConfig: ` + config + `, conversionReviewVersions: ` + reviews + `}}`
	}
	for _, c := range []struct {
		name  string
		edits []string
		want  string // of the error; "": none
	}{
		{"CRD-02 name", []string{"metadata.name", "x.example.com"},
			`CustomResourceDefinition.apiextensions.k8s.io "x.example.com" is invalid: metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group`},
		{"CRD-02 no scope", []string{"spec.scope", ""}, isInvalid + `spec.scope: Required value`},
		{"CRD-02 odd scope", []string{"spec.scope", "Global"},
			isInvalid + `spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"`},
		{"CRD-02 the gateway's own group", []string{"spec.group", "wasmgate.dev", "metadata.name", "bars.wasmgate.dev"},
			`CustomResourceDefinition.apiextensions.k8s.io "bars.wasmgate.dev" is invalid: spec.group: Invalid value: "wasmgate.dev": it is the group of the gateway's own kinds; choose another one`},
		{"CRD-03 no storage version", []string{"spec.versions", `[{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]`},
			isInvalid + `[spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version, status.storedVersions: Invalid value: null: must have at least one stored version]`},
		{"CRD-03 two storage versions", []string{"spec.versions", `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`},
			isInvalid + `[spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version, status.storedVersions: Invalid value: ["v1"]: must have the storage version v2]`},
		{"CRD-05 no schema", []string{"spec.versions", `[{name: v1, served: true, storage: true}]`},
			isInvalid + `spec.versions[0].schema.openAPIV3Schema: Required value`},
		{"CRD-06 preserveUnknownFields", []string{"spec.preserveUnknownFields", "true"},
			isInvalid + `spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`},
		{"CRD-19 none", []string{"spec.conversion", webhook(`{url: "https://a.b/c"}`, "null")},
			isInvalid + `spec.conversion.conversionReviewVersions: Required value`},
		{"CRD-19 unknown", []string{"spec.conversion", webhook(`{url: "https://a.b/c"}`, "[v9]")},
			isInvalid + `spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`},
		{"CRD-20 no webhook", []string{"spec.conversion", `{strategy: Webhook}`},
			isInvalid + `[spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook, spec.conversion.conversionReviewVersions: Required value]`},
		{"CRD-20 url and service", []string{"spec.conversion", webhook(`{url: "https://a.b/c", service: {namespace: a, name: b}}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`},
		{"CRD-20 module and service", []string{"spec.conversion", webhook(`{url: "wasm://m", service: {namespace: a, name: b}}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`},
		{"CRD-20 neither", []string{"spec.conversion", webhook(`{}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`},
		{"CRD-21 good", []string{"spec.conversion", webhook(`{url: "https://127.0.0.1:8443/convert"}`, "[v1, v1beta1]")}, ""},
		{"CRD-21 http", []string{"spec.conversion", webhook(`{url: "http://a.b/c"}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`},
		{"CRD-21 userinfo", []string{"spec.conversion", webhook(`{url: "https://u:p@a.b/c"}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL`},
		{"CRD-21 fragment", []string{"spec.conversion", webhook(`{url: "https://a.b/c#x"}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.url: Invalid value: "x": fragments are not permitted in the URL`},
		{"CRD-21 query", []string{"spec.conversion", webhook(`{url: "https://a.b/c?x=1"}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.url: Invalid value: "x=1": query parameters are not permitted in the URL`},
		{"CRD-22 good", []string{"spec.conversion", webhook(`{service: {namespace: a, name: b, path: /my-path, port: 1234}}`, "[v1]")}, ""},
		// kube-apiserver mixes up these two.
		{"CRD-22 no name", []string{"spec.conversion", webhook(`{service: {namespace: a}}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.service.namespace: Required value`},
		{"CRD-22 no namespace", []string{"spec.conversion", webhook(`{service: {name: a}}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.service.name: Required value`},
		{"CRD-22 port", []string{"spec.conversion", webhook(`{service: {name: a, namespace: b, port: 0}}`, "[v1]")},
			isInvalid + `spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`},
		{"CEL-20 rule that does not compile", []string{"spec.versions", `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.b == 1"}]}}}]`},
			isInvalid + `spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b'
 | self.b == 1
 | ....^`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := create(t, tree(t, bars, c.edits...))
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("got  %v\nwant %v", err, c.want)
			}
		})
	}
}

func TestValidate_module(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"wasm://crontab", ""},
		{"wasm://crontab.example.com", ""},
		{"wasm://", "the name of a module must be specified; desired format: wasm://NAME"},
		{"wasm:crontab", "the name of a module must be specified; desired format: wasm://NAME"},
		{"wasm://a/", "a path is not permitted in the URL of a module; desired format: wasm://NAME"},
		{"wasm://a/convert", "a path is not permitted in the URL of a module; desired format: wasm://NAME"},
		{"wasm://a?", "query parameters are not permitted in the URL"},
		{"wasm://a?x=1", "query parameters are not permitted in the URL"},
		{"wasm://a#", "fragments are not permitted in the URL"},
		{"wasm://a#x", "fragments are not permitted in the URL"},
		{"wasm://u:p@a", "user information is not permitted in the URL"},
		{"wasm://a:80", "it does not name a module: a lowercase RFC 1123 subdomain must consist of"},
		{"wasm://Big_Name", "it does not name a module: a lowercase RFC 1123 subdomain must consist of"},
		{"wasmx://a", "'https' is the only allowed URL scheme"},
		{"wasm://%zz", "url must be a valid URL"},
	} {
		t.Run("CRD-21 "+c.url, func(t *testing.T) {
			conversion := `{strategy: Webhook, webhook: {clientConfig: {url: "` + c.url + `"}, conversionReviewVersions: [v1]}}`
			u, err := create(t, tree(t, bars, "spec.conversion", conversion))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				got, _, _ := unstructured.NestedString(u.Object, "spec", "conversion", "webhook", "clientConfig", "url")
				if got != c.url {
					t.Errorf("the url became %q", got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "module.invalid") {
				t.Errorf("got %v, want it to have %q", err, c.want)
			}
		})
	}
}

// TestModule_update shows that a url may change between webhook and module.
func TestModule_update(t *testing.T) {
	old := mustCreate(t, "spec.conversion", `{strategy: Webhook, webhook: {clientConfig: {url: "https://a.b/c"}, conversionReviewVersions: [v1]}}`)
	for _, url := range []string{"wasm://a", "wasm://b", "https://c.d"} {
		next := old.DeepCopy()
		if err := unstructured.SetNestedField(next.Object, url, "spec", "conversion", "webhook", "clientConfig", "url"); err != nil {
			t.Fatal(err)
		}
		if err := update(t, next, old, false); err != nil {
			t.Fatalf("to %s: %v", url, err)
		}
		if next.GetGeneration() != old.GetGeneration()+1 {
			t.Errorf("the generation is %d after %d", next.GetGeneration(), old.GetGeneration())
		}
		old = next
	}
}

const twoVersions = `[{name: v1, served: true, storage: %s, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: %s, schema: {openAPIV3Schema: {type: object}}}]`

func versions(first bool) string {
	a, b := "false", "true"
	if first {
		a, b = b, a
	}
	return strings.Replace(strings.Replace(twoVersions, "%s", a, 1), "%s", b, 1)
}

func setVersions(t *testing.T, u *unstructured.Unstructured, yaml string) *unstructured.Unstructured {
	t.Helper()
	out := u.DeepCopy()
	out.Object["spec"].(map[string]any)["versions"] = parseYAML(t, yaml)
	return out
}

func storedVersions(u *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedStringSlice(u.Object, "status", "storedVersions")
	return strings.Join(s, ",")
}

func TestStoredVersions(t *testing.T) {
	const onlyV2 = `[{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`
	first := mustCreate(t, "spec.versions", versions(true))
	if got := storedVersions(first); got != "v1" {
		t.Fatalf("stored versions of a new one: %s", got)
	}
	both := setVersions(t, first, versions(false))
	t.Run("CRD-30 appended on change", func(t *testing.T) {
		if err := update(t, both, first, false); err != nil {
			t.Fatal(err)
		}
		if got := storedVersions(both); got != "v1,v2" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("CRD-31 not dropped while stored", func(t *testing.T) {
		err := update(t, setVersions(t, both, onlyV2), both, false)
		want := `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions`
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	})
	setStored := func(names ...any) *unstructured.Unstructured {
		out := both.DeepCopy()
		out.Object["status"].(map[string]any)["storedVersions"] = names
		return out
	}
	t.Run("CRD-31 the storage version stays", func(t *testing.T) {
		err := update(t, setStored("v1"), both, true)
		if err == nil || !strings.HasSuffix(err.Error(), `status.storedVersions: Invalid value: ["v1"]: must have the storage version v2`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("CRD-31 removed through status", func(t *testing.T) {
		migrated := setStored("v2")
		if err := update(t, migrated, both, true); err != nil {
			t.Fatal(err)
		}
		dropped := setVersions(t, migrated, onlyV2)
		if err := update(t, dropped, migrated, false); err != nil {
			t.Fatal(err)
		}
		if got := storedVersions(dropped); got != "v2" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("CRD-30 not changed by a write of the whole", func(t *testing.T) {
		cheat := setStored("v2")
		if err := update(t, cheat, both, false); err != nil {
			t.Fatal(err)
		}
		if got := storedVersions(cheat); got != "v1,v2" {
			t.Errorf("got %s", got)
		}
	})
}

func TestStatus_keepsSpec(t *testing.T) {
	old := mustCreate(t)
	next := old.DeepCopy()
	next.Object["spec"].(map[string]any)["scope"] = "Cluster"
	next.Object["status"].(map[string]any)["acceptedNames"] = map[string]any{"plural": "bars", "kind": "Bar", "singular": "bar", "listKind": "BarList"}
	if err := update(t, next, old, true); err != nil {
		t.Fatal(err)
	}
	c, err := FromTree(next.Object)
	if err != nil {
		t.Fatal(err)
	}
	if c.Spec.Scope != apiextensionsv1.NamespaceScoped || c.Status.AcceptedNames.Plural != "bars" {
		t.Errorf("got %+v %+v", c.Spec, c.Status)
	}
}

// TestStrategy_oddObjects holds the strategies to errors where others panic.
func TestStrategy_oddObjects(t *testing.T) {
	v := Definition().Version("v1")
	good := mustCreate(t)
	for _, obj := range []*unstructured.Unstructured{{Object: map[string]any{"spec": "x"}}, {}} {
		ctx := context.Background()
		v.Strategy.Prepare(ctx, obj, nil)
		v.Strategy.Prepare(ctx, obj, good)
		if len(v.Strategy.Validate(ctx, obj, nil).Errors) == 0 || len(v.Strategy.Validate(ctx, good, obj).Errors) == 0 {
			t.Errorf("%v was accepted", obj)
		}
	}
}

// The library's validation does not survive a selectable field beside a
// schema that is not structural.
func TestADefinitionThatValidationDoesNotSurviveIsRefused_CRD01(t *testing.T) {
	edits := []string{"spec.versions", `[{name: v1, served: true, storage: true, selectableFields: [{jsonPath: .spec.b}], ` +
		`schema: {openAPIV3Schema: {type: object, properties: {spec: {type: array, items: [{type: string}]}}}}}]`}
	refused := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "spec: Forbidden: a defect of the validation keeps it from being checked: runtime error: invalid memory address") {
			t.Errorf("got %v", err)
		}
	}
	_, err := create(t, tree(t, bars, edits...))
	refused(err)
	old := mustCreate(t)
	obj := setVersions(t, old.DeepCopy(), edits[1])
	refused(update(t, obj, old, false))
}

// As kube-apiserver has it.
func TestWhatAnUpdateOfADefinitionMayDo_UPD02(t *testing.T) {
	if d := Definition(); d.Namespaced || d.CreateOnUpdate || !d.ConditionalUpdate {
		t.Errorf("in namespaces %t, creates %t, only with a resourceVersion %t", d.Namespaced, d.CreateOnUpdate, d.ConditionalUpdate)
	}
}
