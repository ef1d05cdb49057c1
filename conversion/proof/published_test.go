package proof_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
)

// spec and items are parts of schemas.
func spec(properties string) string {
	return `spec: {type: object, properties: {` + properties + `}}`
}

func items(properties string) string {
	return `{type: array, items: {type: object, properties: {` + properties + `}}}`
}

// stash keeps a field that a version cannot hold, as JSON, and unstash puts it back.
func stash(o tree, from tree, field string) {
	if v, ok := from[field]; ok {
		text, _ := json.Marshal(v)
		keep(o, string(text))
		delete(from, field)
	}
}

func unstash(o tree, into func() tree, field string) {
	if text, ok := kept(o); ok {
		kept := tree{}
		_ = utiljson.Unmarshal(fmt.Appendf(nil, `{"v":%s}`, text), &kept) // integers stay integers
		into()[field] = kept["v"]
	}
}

// part is an object of an object, nil for none.
func part(o tree, name string) tree {
	p, _ := o[name].(tree)
	return p
}

// failing makes a converter whose ways may fail.
func failing(to2, to1 func(o tree) error) func(map[string]any, string) error {
	return func(o map[string]any, desired string) error {
		if desired == "example.com/v2" {
			return to2(o)
		}
		return to1(o)
	}
}

func fine(way func(tree)) func(tree) error {
	return func(o tree) error { way(o); return nil }
}

// published are converters that were published with what they lose, cut down to it; the
// source of each is where that was told.
var published = []lossyCase{
	// What only the newer version has is dropped for clients of the older one.
	{name: "a field of the newer version is dropped for the older", source: "tektoncd/pipeline#3854", field: "spec.when",
		v1: spec(`tasks: ` + number), v2: spec(`tasks: ` + number + `, when: {type: array, items: ` + text + `}`),
		wrong: ways(same, func(o tree) { delete(part(o, "spec"), "when") }),
		good: ways(func(o tree) { unstash(o, func() tree { return child(o, "spec") }, "when") },
			func(o tree) { stash(o, part(o, "spec"), "when") })},
	{name: "the older version refuses what it does not have", source: "kubernetes-sigs/cluster-api#1953", field: "status.dataSecretName", problem: proof.Fails,
		v1: `status: {type: object, properties: {ready: {type: boolean}}}`, v2: `status: {type: object, properties: {ready: {type: boolean}, dataSecretName: ` + text + `}}`,
		wrong: failing(fine(same), func(o tree) error {
			if _, ok := part(o, "status")["dataSecretName"]; ok {
				return errors.New("status.dataSecretName cannot be converted")
			}
			return nil
		}),
		good: ways(func(o tree) { unstash(o, func() tree { return child(o, "status") }, "dataSecretName") },
			func(o tree) { stash(o, part(o, "status"), "dataSecretName") })},
	{name: "false is taken for nothing", source: "kubernetes-sigs/cluster-api-provider-openstack#3118", field: "spec.disableFloatingIP",
		v1: spec(`disableFloatingIP: {type: boolean}`), v2: spec(`disableFloatingIP: {type: boolean}`),
		wrong: ways(func(o tree) {
			if part(o, "spec")["disableFloatingIP"] == false {
				delete(part(o, "spec"), "disableFloatingIP")
			}
		}, same), good: ways(same, same)},
	{name: "a field that moved to another part is forgotten", source: "netobserv/netobserv-operator#467", field: "loki.batchSize",
		v1:    `loki: {type: object, properties: {batchSize: ` + number + `}}`,
		v2:    `loki: {type: object}, processor: {type: object, properties: {lokiBatchSize: ` + number + `}}`,
		wrong: ways(func(o tree) { delete(part(o, "loki"), "batchSize") }, func(o tree) { delete(o, "processor") }), oneWay: true,
		good: ways(func(o tree) {
			if v, ok := part(o, "loki")["batchSize"]; ok {
				delete(part(o, "loki"), "batchSize")
				child(o, "processor")["lokiBatchSize"] = v
			}
		}, func(o tree) {
			if v, ok := part(o, "processor")["lokiBatchSize"]; ok {
				delete(o, "processor")
				child(o, "loki")["batchSize"] = v
			}
		})},
	{name: "a field of items of items is not copied", source: "prometheus-operator/prometheus-operator#6282", field: "routes[*].continue",
		v1: `routes: ` + items(`receiver: `+text+`, continue: {type: boolean}`), v2: `routes: ` + items(`receiver: `+text+`, continue: {type: boolean}`),
		wrong: ways(func(o tree) {
			all, _ := o["routes"].([]any)
			for _, r := range all {
				delete(r.(tree), "continue")
			}
		}, same), good: ways(same, same)},
	{name: "two fields become one that says less", source: "prometheus-operator/prometheus-operator#4677", field: "regex",
		v1:    `regex: {type: boolean}, matchType: {type: string, enum: ["=", "=~"]}`,
		v2:    `matchType: {type: string, enum: ["=", "=~"]}`,
		wrong: ways(func(o tree) { matched(o); delete(o, "regex") }, same), oneWay: true,
		good: ways(func(o tree) {
			before, _ := json.Marshal([]any{o["regex"], o["matchType"]})
			if _, ok := o["regex"]; ok {
				keep(o, string(before))
			}
			matched(o)
			delete(o, "regex")
		}, func(o tree) {
			if before, ok := kept(o); ok {
				var was []any
				_ = json.Unmarshal([]byte(before), &was)
				o["regex"] = was[0]
				if delete(o, "matchType"); was[1] != nil {
					o["matchType"] = was[1]
				}
			}
		})},
	{name: "hours are more seconds than 32 bits have", source: "aws/eks-anywhere#10868", field: "timeout",
		v1: `timeout: {type: integer, minimum: 0, maximum: 1000000}`, v2: `timeoutSeconds: ` + number, oneWay: true,
		wrong: ways(func(o tree) { seconds(o, func(s int64) int64 { return int64(int32(s)) }) }, hours), good: ways(func(o tree) { seconds(o, func(s int64) int64 { return s }) }, hours)},
	{name: "what is below a second is cut off", source: "metal3-io/cluster-api-provider-metal3#3206", field: "timeout",
		v1: `timeout: {type: string, pattern: '^[1-9][0-9]{0,3}(ms|s)$'}`, v2: `timeoutSeconds: ` + number, oneWay: true,
		wrong: ways(func(o tree) { whole(o, false) }, asDuration), good: ways(func(o tree) { whole(o, true) }, asDuration)},
	{name: "what the older version needs is left in the newer", source: "kubernetes-sigs/cluster-api#12719", field: "metadata.annotations",
		v1: `a: ` + text, v2: `a: ` + text, oneWay: true,
		wrong: ways(func(o tree) { keep(o, "v1") }, same), good: ways(func(o tree) { keep(o, "v1") }, func(o tree) { kept(o) })},
	{name: "a map of the status is not copied", source: "kubernetes-sigs/cluster-api#2259", field: "status.failureDomains",
		v1: `status: {type: object, properties: {failureDomains: {type: object, additionalProperties: {type: object, properties: {controlPlane: {type: boolean}}}}}}`,
		v2: `status: {type: object, properties: {failureDomains: {type: object, additionalProperties: {type: object, properties: {controlPlane: {type: boolean}}}}}}`,
		wrong: ways(func(o tree) {
			if s := part(o, "status"); s != nil {
				delete(s, "failureDomains")
			}
		}, same), good: ways(same, same)},
	{name: "a list of several is refused where an object is meant", source: "crossplane-contrib/provider-upjet-gcp#548", field: "addons[*]", problem: proof.Fails, oneWay: true,
		v1: `addons: {type: array, items: ` + text + `}`, v2: `addons: ` + text,
		wrong: failing(func(o tree) error {
			switch all, ok := o["addons"].([]any); {
			case len(all) > 1:
				return fmt.Errorf("singleton list has %d items", len(all))
			case ok && len(all) == 0:
				keep(o, "[]")
				delete(o, "addons")
			case ok:
				o["addons"] = all[0]
			}
			return nil
		}, fine(single)),
		good: ways(func(o tree) {
			all, ok := o["addons"].([]any)
			switch {
			case len(all) == 1:
				o["addons"] = all[0]
			case ok:
				stash(o, o, "addons")
			}
		}, single)},
	{name: "what was kept is removed and not put back", source: "kubernetes-sigs/agent-sandbox#993", field: "shutdown", oneWay: true,
		v1: `a: ` + text + `, shutdown: {type: object, properties: {after: ` + number + `}}`, v2: `a: ` + text,
		wrong: ways(func(o tree) { stash(o, o, "shutdown") }, func(o tree) { kept(o) }),
		good:  ways(func(o tree) { stash(o, o, "shutdown") }, func(o tree) { unstash(o, func() tree { return o }, "shutdown") })},
	{name: "a text that is no number is refused", source: "crossplane-contrib/provider-keycloak#669", field: "secretVersion", problem: proof.Fails, oneWay: true,
		v1: `secretVersion: ` + text, v2: `secretVersion: ` + number,
		wrong: failing(func(o tree) error {
			v, ok := o["secretVersion"].(string)
			if !ok {
				return nil
			}
			n, err := strconv.ParseInt(v, 10, 64)
			o["secretVersion"] = n
			return err
		}, fine(func(o tree) {
			if n, ok := o["secretVersion"].(int64); ok {
				o["secretVersion"] = strconv.FormatInt(n, 10)
			}
		})),
		good: ways(func(o tree) {
			if v, ok := o["secretVersion"].(string); ok {
				keep(o, v)
				n, err := strconv.ParseInt(v, 10, 64)
				if o["secretVersion"] = n; err != nil {
					delete(o, "secretVersion")
				}
			}
		}, func(o tree) {
			if v, ok := kept(o); ok {
				o["secretVersion"] = v
			}
		})},
	{name: "a union comes back as both of its branches", source: "tektoncd/pipeline#5381", field: "resolver", oneWay: true,
		v1: `name: ` + text + `, bundle: ` + text + `, resolver: ` + text, v2: `name: ` + text + `, resolver: ` + text + `, bundleParam: ` + text,
		wrong: ways(func(o tree) {
			if _, ok := o["bundle"]; ok {
				move(o, "bundle", "bundleParam")
				if _, ok := o["resolver"]; !ok {
					o["resolver"] = "bundles"
				}
			}
		}, func(o tree) { move(o, "bundleParam", "bundle") }),
		good: ways(func(o tree) {
			if _, ok := o["bundle"]; ok {
				move(o, "bundle", "bundleParam")
				if _, ok := o["resolver"]; !ok {
					keep(o, "no resolver")
					o["resolver"] = "bundles"
				}
			}
		}, func(o tree) {
			move(o, "bundleParam", "bundle")
			if _, ok := kept(o); ok {
				delete(o, "resolver")
			}
		})},
	{name: "a constant is written over a value", source: "tektoncd/pipeline#6791", field: "ref.kindOf",
		v1: `ref: {type: object, properties: {kindOf: {type: string, enum: [Task, Pipeline]}}}`, v2: `ref: {type: object, properties: {kindOf: {type: string, enum: [Task, Pipeline]}}}`,
		wrong: ways(func(o tree) {
			if r := part(o, "ref"); r["kindOf"] != nil {
				r["kindOf"] = "Task"
			}
		}, same), good: ways(same, same)},
	{name: "the first of a list is taken where there is none", source: "kubernetes-sigs/cluster-api-provider-cloudstack#148", field: "zones", problem: proof.Fails, oneWay: true,
		v1: `zones: {type: array, items: ` + text + `}`, v2: `zone: ` + text + `, others: {type: array, items: ` + text + `}`,
		wrong: failing(func(o tree) error {
			all, ok := o["zones"].([]any)
			if ok && len(all) == 0 {
				return errors.New("index out of range [0] with length 0")
			}
			zoned(o)
			return nil
		}, fine(unzoned)), good: ways(zoned, unzoned)},
	{name: "conditions are not carried over", source: "knative-extensions/eventing-kafka#127", field: "status.conditions",
		v1: `status: {type: object, properties: {conditions: ` + items(`type: `+text+`, status: `+text) + `}}`, v2: `status: {type: object, properties: {conditions: ` + items(`type: `+text+`, status: `+text) + `}}`,
		wrong: ways(same, func(o tree) {
			if s := part(o, "status"); s != nil {
				delete(s, "conditions")
			}
		}), good: ways(same, same)},
	{name: "an object of several fields is passed over", source: "kubernetes-sigs/cluster-api-provider-ibmcloud#1135", field: "spec.service",
		v1:    spec(`service: {type: object, properties: {id: ` + text + `, name: ` + text + `}}`),
		v2:    spec(`serviceInstance: {type: object, properties: {id: ` + text + `, name: ` + text + `}}`),
		wrong: ways(func(o tree) { delete(part(o, "spec"), "service") }, func(o tree) { delete(part(o, "spec"), "serviceInstance") }),
		good: ways(func(o tree) { move(part(o, "spec"), "service", "serviceInstance") },
			func(o tree) { move(part(o, "spec"), "serviceInstance", "service") })},
}

// matched puts what regex says into matchType, if that says nothing.
func matched(o tree) {
	if _, says := o["matchType"]; says {
		return
	}
	switch o["regex"] {
	case true:
		o["matchType"] = "=~"
	case false:
		o["matchType"] = "="
	}
}

func seconds(o tree, narrow func(int64) int64) {
	if n, ok := o["timeout"].(int64); ok {
		delete(o, "timeout")
		o["timeoutSeconds"] = narrow(n * 3600)
	}
}

func hours(o tree) {
	if n, ok := o["timeoutSeconds"].(int64); ok {
		delete(o, "timeoutSeconds")
		o["timeout"] = n / 3600
	}
}

// whole makes whole seconds of a duration, and keeps it if asked to.
func whole(o tree, keeps bool) {
	v, ok := o["timeout"].(string)
	if !ok {
		return
	}
	d, _ := time.ParseDuration(v)
	delete(o, "timeout")
	o["timeoutSeconds"] = int64(math.Floor(d.Seconds()))
	if keeps {
		keep(o, v)
	}
}

func asDuration(o tree) {
	n, ok := o["timeoutSeconds"].(int64)
	if !ok {
		return
	}
	delete(o, "timeoutSeconds")
	o["timeout"] = strconv.FormatInt(n, 10) + "s"
	if v, ok := kept(o); ok {
		o["timeout"] = v
	}
}

// single makes a list of what was one item.
func single(o tree) {
	if text, ok := kept(o); ok {
		var all any
		_ = json.Unmarshal([]byte(text), &all)
		o["addons"] = all
	} else if v, ok := o["addons"]; ok {
		o["addons"] = []any{v}
	}
}

func zoned(o tree) {
	if all, ok := o["zones"].([]any); ok {
		delete(o, "zones")
		o["others"] = all
		if len(all) > 0 {
			o["zone"], o["others"] = all[0], all[1:]
		}
	}
}

func unzoned(o tree) {
	others, ok := o["others"].([]any)
	first, has := o["zone"]
	delete(o, "others")
	delete(o, "zone")
	if has {
		others = append([]any{first}, others...)
	}
	if ok || has {
		o["zones"] = others
	}
}

// Of three versions, all are converted to and from the first, and not between the others,
// which is asked for as soon as one of these is stored (dotnet/dotnet-operator-sdk#1193).
func TestVersionsWithNoWayBetweenThemAreFound(t *testing.T) {
	d := define(t, `a: `+text, `b: `+text, `c: `+text)
	names := map[string]string{"example.com/v1": "a", "example.com/v2": "b", "example.com/v3": "c"}
	renamed := func(o tree, desired string) { move(o, names[o["apiVersion"].(string)], names[desired]) }
	wrong := func(o tree, desired string) error {
		if o["apiVersion"] != "example.com/v1" && desired != "example.com/v1" {
			return errors.New("there is no such conversion")
		}
		renamed(o, desired)
		return nil
	}
	options := proof.Options{Budget: 5 * time.Minute, Objects: 100}
	report := proof.Prove(t.Context(), d, function.Converter(wrong), options)
	var pairs []string
	for _, l := range report.Losses {
		if l.Problem == proof.Fails {
			pairs = append(pairs, l.Pair.String())
		}
	}
	if slices.Sort(pairs); !slices.Equal(pairs, []string{"v2:v3", "v3:v2"}) {
		t.Errorf("%+v", report)
	}
	good := func(o tree, desired string) error { renamed(o, desired); return nil }
	if report := proof.Prove(t.Context(), d, function.Converter(good), options); report.Verdict != proof.Lossless {
		t.Errorf("the twin: %+v", report)
	}
}
