package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// Reviews convert for who may get the object, and for nobody else.
func TestConversionReviews(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	const reviews = "/apis/wasmgate.dev/v1/conversionreviews"
	review := func(namespace string) object {
		scaler := object{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": object{"name": "h", "namespace": namespace},
			"spec": object{"maxReplicas": 3, "targetCPUUtilizationPercentage": 50, "scaleTargetRef": object{"kind": "Deployment", "name": "w", "apiVersion": "apps/v1"}}}
		return object{"apiVersion": "wasmgate.dev/v1", "kind": "ConversionReview", "spec": object{"desiredAPIVersion": "autoscaling/v2", "object": scaler}}
	}
	api.Post(reviews, review("team")).Want(201)
	if got := api.Post(reviews, review("team")).Str("status.object.apiVersion"); got != "autoscaling/v2" {
		t.Errorf("it is at %q", got)
	}
	api.Get(reviews).Want(405)
	const roles, bindings = "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/"
	api.Post(roles, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": object{"name": "converter"},
		"rules": []object{{"apiGroups": []string{"wasmgate.dev"}, "resources": []string{"conversionreviews"}, "verbs": []string{"create"}}}}).Want(201)
	bind := func(where, name, role, user string) {
		kind := "RoleBinding"
		if strings.HasPrefix(where, "cluster") {
			kind = "ClusterRoleBinding"
		}
		api.Post(bindings+where, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": object{"name": name},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": []object{{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}}}).Want(201)
	}
	asAnn := func(namespace string) *harness.Reply {
		return api.Do("POST", reviews, review(namespace), "Impersonate-User", "ann")
	}
	asAnn("team").WantStatus(403, "Forbidden", `cannot create resource "conversionreviews"`)
	bind("clusterrolebindings", "converts", "converter", "ann")
	api.Post("/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "team"}}).Want(201)
	harness.Eventually(t, "the review is allowed", func() bool {
		return strings.Contains(asAnn("team").Str("message"), `cannot get resource "horizontalpodautoscalers"`)
	})
	bind("namespaces/team/rolebindings", "reads", "view", "ann")
	harness.Eventually(t, "it is converted", func() bool { return asAnn("team").Code == 201 })
	for user, role := range map[string]string{"vera": "view", "ed": "edit", "adam": "admin"} {
		bind("clusterrolebindings", role, role, user)
		harness.Eventually(t, user+" may, too", func() bool {
			return api.Do("POST", reviews, review("team"), "Impersonate-User", user).Code == 201
		})
	}
	asAnn("other").WantStatus(403, "Forbidden", `cannot get resource "horizontalpodautoscalers" in API group "autoscaling" in the namespace "other"`)
}

const rulesPath = "/apis/wasmgate.dev/v1/conversionrules"

func rulesObject(name string, rules ...object) object {
	return object{"apiVersion": "wasmgate.dev/v1", "kind": "ConversionRules", "metadata": object{"name": name},
		"spec": object{"conversions": []object{{"from": "v1", "to": "v2", "rules": rules}}}}
}

// Rules that change convert otherwise at once, what they lose is told by the condition,
// and binding them needs the verb use.
func TestRulesThatChange(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	text := object{"type": "string"}
	version := func(name string, storage bool, properties object) object {
		return object{"name": name, "served": true, "storage": storage, "schema": object{"openAPIV3Schema": object{"type": "object", "properties": properties}}}
	}
	definition := func(url string) object {
		return object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "widgets.rules.example.com"},
			"spec": object{"group": "rules.example.com", "scope": "Cluster", "names": object{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
				"conversion": object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []string{"v1"}, "clientConfig": object{"url": url}}},
				"versions":   []object{version("v1", true, object{"a": text, "zone": text}), version("v2", false, object{"b": text})}}}
	}
	const definitions, widgets = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/rules.example.com/"
	api.Post(definitions, definition("wasm://rules/a/b")).WantStatus(422, "Invalid", "it does not name rules")
	api.Post(definitions, definition("wasm://rules/widgets")).Want(201)
	harness.Eventually(t, "served", func() bool { return api.Get(widgets+"v1/widgets").Code == 200 })
	api.Post(widgets+"v1/widgets", object{"apiVersion": "rules.example.com/v1", "kind": "Widget", "metadata": object{"name": "w"}, "a": "x", "zone": "z"}).Want(201)
	api.Get(widgets+"v2/widgets/w").WantStatus(500, "", `there are no ConversionRules "widgets"`)

	rename, keep := object{"rename": object{"field": "a", "to": "b"}}, object{"keep": object{"field": "zone"}}
	api.Post(rulesPath, rulesObject("widgets", object{"rename": object{"field": "a", "to": "b"}, "keep": object{"field": "c"}})).
		WantStatus(422, "Invalid", "spec.conversions[0].rules[0]: Invalid value: [\"keep\",\"rename\"]: a rule does one thing")
	api.Post(rulesPath, rulesObject("widgets", rename)).Want(201)
	harness.Eventually(t, "converted", func() bool {
		r := api.Get(widgets + "v2/widgets/w")
		return r.Code == 200 && r.Str("b") == "x"
	})
	condition := func(status string) func() bool {
		return func() bool {
			r := api.Get(rulesPath + "/widgets").Want(200)
			return r.Str("status.conditions.0.status") == "True" && r.Str("status.conditions.1.type") == "Lossless" && r.Str("status.conditions.1.status") == status
		}
	}
	harness.Eventually(t, "the loss is found", condition("False"))
	harness.Eventually(t, "the rules are changed", func() bool {
		changed := rulesObject("widgets", rename, keep)
		changed["metadata"].(object)["resourceVersion"] = api.Get(rulesPath + "/widgets").Want(200).Str("metadata.resourceVersion")
		return api.Put(rulesPath+"/widgets", changed).Want(200, 409).Code == 200 // the status may change meanwhile
	})
	harness.Eventually(t, "nothing is lost", condition("True"))
	r := api.Get(widgets+"v2/widgets/w").Want(200).Equal("b", "x")
	r.Equal("metadata.managedFields.0.apiVersion", "rules.example.com/v1")
	api.Delete(rulesPath+"/widgets").WantStatus(409, "Conflict", "in use by customresourcedefinitions/widgets.rules.example.com")
	api.Delete(definitions + "/widgets.rules.example.com").Want(200)
}

// An object that rules refuse is left out of lists like one that a module refuses, and
// rules that refuse what is stored are not bound in the place of what converts it.
func TestWhatRulesRefuse_CRD18(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	const group, definitions = "/apis/refused.example.com/", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	version := func(name string, storage bool) object {
		return object{"name": name, "served": true, "storage": storage, "schema": object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
	}
	conversion := func(rules string) object {
		return object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []string{"v1"}, "clientConfig": object{"url": "wasm://rules/" + rules}}}
	}
	api.Post(rulesPath, rulesObject("maps", object{"listToMap": object{"list": "l", "map": "m", "key": "k"}})).Want(201)
	api.Post(rulesPath, rulesObject("renames", object{"rename": object{"field": "l", "to": "n"}})).Want(201)
	api.Post(definitions, object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "gadgets.refused.example.com",
		"annotations": object{"conversion.wasmgate.dev/unconvertible-objects": "Omit"}},
		"spec": object{"group": "refused.example.com", "scope": "Cluster", "names": object{"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
			"conversion": conversion("renames"), "versions": []object{version("v1", true), version("v2", false)}}}).Want(201)
	harness.Eventually(t, "served", func() bool { return api.Get(group+"v1/gadgets").Code == 200 })
	bind := func(rules string) (r *harness.Reply) {
		harness.Eventually(t, "the definition is written", func() bool {
			crd := api.Get(definitions + "/gadgets.refused.example.com").Want(200).Object()
			crd.Set("spec.conversion", conversion(rules))
			r = api.Put(definitions+"/gadgets.refused.example.com", crd)
			return r.Code != 409
		})
		return r
	}
	gadget := func(name, list string) {
		api.Post(group+"v1/gadgets", `{"apiVersion":"refused.example.com/v1","kind":"Gadget","metadata":{"name":"`+name+`"},"l":`+list+`}`).Want(201)
	}
	gadget("good", `[{"k":"a"}]`)
	bind("maps").Want(200)
	harness.Eventually(t, "the rules convert", func() bool { return api.Get(group + "v2/gadgets/good").Contains(`"m":{"a":{}}`) })
	gadget("bad-one", `[{"k":"a"},{"k":"a"}]`)
	api.Get(group+"v2/gadgets/bad-one").WantStatus(500, "", "two items of l have the same k")
	r := api.Get(group + "v2/gadgets").Want(200)
	if told := missing(t, r); r.Object().Names() != "good" || len(told) != 2 {
		t.Errorf("%s are in the list, and it is told of %q", r.Object().Names(), told)
	}
	bind("renames").Want(200)
	harness.Eventually(t, "the others convert", func() bool { return api.Get(group+"v2/gadgets/bad-one").Code == 200 })
	if r := bind("maps").Want(422); !strings.Contains(r.Str("message"), "bad-one") {
		t.Errorf("it is refused with %q", r.Str("message"))
	}
	api.Delete(definitions + "/gadgets.refused.example.com").Want(200)
}
