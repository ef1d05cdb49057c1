package proof_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

// tree is an object.
type tree = map[string]any

// define is a definition of Widgets with the properties of v1, v2 and so on, as YAML.
func define(t testing.TB, v1 string, others ...string) *crd.Definition {
	t.Helper()
	var c apiextensionsv1.CustomResourceDefinition
	version := func(n int, storage bool, properties string) string {
		return fmt.Sprintf(`{name: v%d, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {%s}}}}`, n, storage, properties)
	}
	versions := []string{version(1, true, v1)}
	for i, properties := range others {
		versions = append(versions, version(i+2, false, properties))
	}
	text := `{metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [` + strings.Join(versions, ", ") + `]}}`
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(text, "\t", " ")), &c); err != nil {
		t.Fatal(err)
	}
	d, err := custom.Compile(&c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// child is the object at a path, made if need be.
func child(o tree, path ...string) tree {
	for _, name := range path {
		next, ok := o[name].(tree)
		if !ok {
			next = tree{}
			o[name] = next
		}
		o = next
	}
	return o
}

// move gives a field another name.
func move(o tree, from, to string) {
	if v, ok := o[from]; ok {
		delete(o, from)
		o[to] = v
	}
}

// keep puts a value that a version cannot hold into an annotation, and kept takes it
// from there.
func keep(o tree, value string) { child(o, "metadata", "annotations")["example.com/kept"] = value }

func kept(o tree) (value string, ok bool) {
	meta, _ := o["metadata"].(tree)
	all, _ := meta["annotations"].(tree)
	value, ok = all["example.com/kept"].(string)
	delete(all, "example.com/kept")
	if len(all) == 0 {
		delete(meta, "annotations")
	}
	return value, ok
}

// ways makes a converter of the two ways between v1 and v2.
func ways(to2, to1 func(o tree)) function.Converter {
	return func(o map[string]any, desired string) error {
		if desired == "example.com/v2" {
			to2(o)
		} else {
			to1(o)
		}
		return nil
	}
}

func same(tree) {}

// lossyCase is a converter that loses something, and its twin that does not.
type lossyCase struct {
	name        string
	v1, v2      string
	wrong, good function.Converter
	field       string
	problem     proof.Problem // "" for Lost
	// source is where such a converter was published, as repository#number; "" for
	// nowhere.
	source string
	// oneWay: the twin, too, can only keep what v1 has.
	oneWay bool
}

const text, number = `{type: string}`, `{type: integer, format: int64}`

var lossy = []lossyCase{
	{name: "a field is dropped", field: "spec.zone",
		v1: `spec: {type: object, properties: {size: ` + number + `, zone: ` + text + `}}`, v2: `spec: {type: object, properties: {size: ` + number + `}}`,
		wrong: ways(func(o tree) { delete(child(o, "spec"), "zone") }, same),
		good: ways(func(o tree) {
			if spec, ok := o["spec"].(tree); ok {
				if v, ok := spec["zone"].(string); ok {
					keep(o, v)
					delete(spec, "zone")
				}
			}
		}, func(o tree) {
			if v, ok := kept(o); ok {
				child(o, "spec")["zone"] = v
			}
		})},
	{name: "a field is renamed on one way only", source: "prometheus-operator/prometheus-operator#7087", field: "replicas",
		v1: `replicas: ` + number, v2: `count: ` + number,
		wrong: ways(func(o tree) { move(o, "replicas", "count") }, same),
		good:  ways(func(o tree) { move(o, "replicas", "count") }, func(o tree) { move(o, "count", "replicas") })},
	{name: "a list becomes its first item", source: "kubernetes-sigs/cluster-api-provider-azure#380", field: "networks[*]",
		v1: `networks: {type: array, items: ` + text + `}`, v2: `network: ` + text,
		wrong: ways(func(o tree) {
			all, _ := o["networks"].([]any)
			delete(o, "networks")
			if len(all) > 0 {
				o["network"] = all[0]
			}
		}, func(o tree) {
			if v, ok := o["network"]; ok {
				delete(o, "network")
				o["networks"] = []any{v}
			}
		}),
		good: ways(func(o tree) {
			if all, ok := o["networks"].([]any); ok {
				delete(o, "networks")
				if len(all) > 0 {
					o["network"] = all[0]
				}
				if len(all) != 1 {
					list, _ := json.Marshal(all)
					keep(o, string(list))
				}
			}
		}, func(o tree) {
			v, has := o["network"]
			delete(o, "network")
			if list, ok := kept(o); ok {
				var all []any
				_ = json.Unmarshal([]byte(list), &all)
				o["networks"] = all
			} else if has {
				o["networks"] = []any{v}
			}
		})},
	{name: "an integer goes through a float", source: "crossplane-contrib/provider-keycloak#663", field: "bytes",
		v1: `bytes: {type: integer, format: int64, minimum: 0, maximum: 1000000000000000000}`, v2: `bytes: {type: string, pattern: '^(0|[1-9][0-9]{0,18})$'}`,
		wrong: ways(func(o tree) {
			if v, ok := o["bytes"].(int64); ok {
				o["bytes"] = strconv.FormatFloat(float64(v), 'f', -1, 64)
			}
		}, parsed), good: ways(func(o tree) {
			if v, ok := o["bytes"].(int64); ok {
				o["bytes"] = strconv.FormatInt(v, 10)
			}
		}, parsed)},
	{name: "a default is written where nothing was", source: "tektoncd/pipeline#7763", field: "retries",
		v1: `retries: ` + number, v2: `retries: ` + number,
		wrong: ways(func(o tree) {
			if _, ok := o["retries"]; !ok {
				o["retries"] = int64(3)
			}
		}, same), good: ways(same, same)},
	{name: "0 is taken for nothing", source: "netobserv/netobserv-operator#319", field: "retries",
		v1: `retries: ` + number, v2: `retries: ` + number,
		wrong: ways(func(o tree) {
			if o["retries"] == int64(0) {
				delete(o, "retries")
			}
		}, same), good: ways(same, same)},
	{name: "values of an enum become one", field: "mode",
		v1: `mode: {type: string, enum: [Fast, Slow, Auto]}`, v2: `mode: {type: string, enum: [Fast, Slow, Auto]}`,
		wrong: ways(func(o tree) {
			if o["mode"] == "Auto" {
				o["mode"] = "Fast"
			}
		}, same), good: ways(same, same)},
	{name: "annotations are overwritten", field: "metadata.annotations", problem: proof.Metadata,
		v1: `a: ` + text, v2: `a: ` + text,
		wrong: ways(func(o tree) { child(o, "metadata")["annotations"] = tree{"example.com/was": "v1"} }, same), good: ways(same, same)},
	{name: "labels are lost", source: "kubernetes/kubernetes#72160", field: "metadata.labels", problem: proof.Metadata,
		v1: `a: ` + text, v2: `a: ` + text,
		wrong: ways(func(o tree) { delete(child(o, "metadata"), "labels") }, same), good: ways(same, same)},
	{name: "a map becomes a list in any order", field: "env[*]", problem: proof.Unstable, oneWay: true,
		v1: `env: {type: object, additionalProperties: ` + text + `}`, v2: `env: {type: array, items: {type: object, properties: {name: ` + text + `, value: ` + text + `}}}`,
		wrong: ways(func(o tree) { listed(o, false) }, mapped), good: ways(func(o tree) { listed(o, true) }, mapped)},
	{name: "the status is dropped", field: "status",
		v1: `spec: {type: object, properties: {a: ` + text + `}}, status: {type: object, properties: {phase: ` + text + `}}`, v2: `spec: {type: object, properties: {a: ` + text + `}}, status: {type: object, properties: {phase: ` + text + `}}`,
		wrong: ways(func(o tree) { delete(o, "status") }, same), good: ways(same, same)},
	{name: "an empty list is taken for none", source: "openshift/origin#13419", field: "args",
		v1: `args: {type: array, items: ` + text + `}`, v2: `args: {type: array, items: ` + text + `}`,
		wrong: ways(func(o tree) {
			if all, ok := o["args"].([]any); ok && len(all) == 0 {
				delete(o, "args")
			}
		}, same), good: ways(same, same)},
	{name: "null is taken for none", field: "limit",
		v1: `limit: {type: integer, nullable: true}`, v2: `limit: {type: integer, nullable: true}`,
		wrong: ways(func(o tree) {
			if o["limit"] == nil {
				delete(o, "limit")
			}
		}, same), good: ways(same, same)},
	{name: "a time loses what is below a second", field: "at",
		v1: `at: {type: string, format: date-time}`, v2: `at: {type: string, format: date-time}`,
		wrong: ways(func(o tree) {
			if v, ok := o["at"].(string); ok {
				at, _ := time.Parse(time.RFC3339Nano, v)
				o["at"] = at.UTC().Format(time.RFC3339)
			}
		}, same), good: ways(same, same)},
	{name: "a number that may be a text becomes one", field: "ports[*].target",
		v1: `ports: {type: array, items: {type: object, properties: {target: {x-kubernetes-int-or-string: true}}}}`, v2: `ports: {type: array, items: {type: object, properties: {target: {x-kubernetes-int-or-string: true}}}}`,
		wrong: ways(func(o tree) {
			all, _ := o["ports"].([]any)
			for _, p := range all {
				if v, ok := p.(tree)["target"].(int64); ok {
					p.(tree)["target"] = strconv.FormatInt(v, 10)
				}
			}
		}, same), good: ways(same, same)},
	{name: "unknown fields are not copied", field: "config.notInTheSchema",
		v1: `config: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: ` + text + `}}`, v2: `config: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: ` + text + `}}`,
		wrong: ways(func(o tree) {
			if c, ok := o["config"].(tree); ok {
				typed := tree{}
				if a, ok := c["a"]; ok {
					typed["a"] = a
				}
				o["config"] = typed
			}
		}, same), good: ways(same, same)},
	{name: "a required field is not filled", source: "Kuadrant/authorino#429", field: "spec.kindOf", problem: proof.Refused, oneWay: true,
		v1: `spec: ` + text, v2: `spec: {type: object, required: [kindOf], properties: {kindOf: ` + text + `}}`,
		wrong: ways(func(o tree) {
			if v, ok := o["spec"].(string); ok {
				o["spec"] = tree{}
				keep(o, v)
			}
		}, unwrapped), good: ways(func(o tree) {
			if v, ok := o["spec"].(string); ok {
				o["spec"] = tree{"kindOf": ""}
				keep(o, v)
			}
		}, unwrapped)},
}

func unwrapped(o tree) {
	if _, ok := o["spec"]; ok {
		if v, ok := kept(o); ok {
			o["spec"] = v
		}
	}
}

func parsed(o tree) {
	if v, ok := o["bytes"].(string); ok {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			o["bytes"] = n
		} else if f, err := strconv.ParseFloat(v, 64); err == nil {
			o["bytes"] = int64(f)
		} else {
			delete(o, "bytes")
		}
	}
}

func listed(o tree, sorted bool) {
	env, ok := o["env"].(tree)
	if !ok {
		return
	}
	keys := make([]string, 0, len(env))
	for k := range env {
		keys = append(keys, k)
	}
	if sorted {
		slices.Sort(keys)
	} else {
		rand.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
	}
	list := []any{}
	for _, k := range keys {
		list = append(list, tree{"name": k, "value": env[k]})
	}
	o["env"] = list
}

func mapped(o tree) {
	if list, ok := o["env"].([]any); ok {
		env := tree{}
		for _, e := range list {
			name, _ := e.(tree)["name"].(string)
			env[name] = e.(tree)["value"]
		}
		o["env"] = env
	}
}
