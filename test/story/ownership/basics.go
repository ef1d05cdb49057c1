package ownership

import (
	"fmt"
	"strings"
)

// basics are who becomes an owner, and conflicts.
var basics = map[string]func(*tale){
	"SSA-01 minimal body": func(t *tale) {
		t.create(configMap, "a", `"data":{"k":"1"}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=b", Apply, `{"apiVersion":"v1","kind":"ConfigMap"}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=b", Apply, "apiVersion: v1\nkind: ConfigMap\ndata:\n  yaml: \"2\"\n")
	},
	"SSA-02 the manager": func(t *tale) {
		t.send("PATCH", configMaps+"/"+t.name, Apply, t.body(configMap, "", ""))
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=", Apply, t.body(configMap, "", ""))
		t.applyAt(configMap, "", strings.Repeat("m", 129), "", t.body(configMap, "", ""))
		t.applyAt(configMap, "", "a%0Ab", "", t.body(configMap, "", ""))
		t.send("POST", configMaps, JSON, t.body(configMap, "", `"data":{"k":"1"}`)).by("shop-controller/v1.2 (linux/amd64) abc")
		t.send("PATCH", configMaps+"/"+t.name+"?force=true&fieldManager=a", Merge, `{"data":{"k":"2"}}`)
		t.send("PATCH", configMaps+"/"+t.name, Merge, `{"data":{"k":"2"}}`).by(strings.Repeat("long", 40))
		t.send("PATCH", configMaps+"/"+t.name, Merge, `{"data":{"k":"3"}}`).by("tab\there, ünï/1")
	},
	"SSA-03 absent and present": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.apply(shop, "a", `"spec":{"replicas":2,"note":"n"}`)
		t.merge(shop, "b", `{"spec":{"size":"large"}}`)
		t.apply(shop, "a", `"spec":{"replicas":2,"note":"n"}`)
	},
	"SSA-04 every verb tracks": func(t *tale) {
		t.create(shop, "creator", `"spec":{"replicas":1,"ports":[{"port":80}]}`)
		t.merge(shop, "merger", `{"spec":{"note":"m"}}`)
		t.send("PATCH", shops+"/"+t.name+"?fieldManager=jp", JSONPatch, `[{"op":"add","path":"/spec/set","value":["a","b"]}]`)
		t.mergeAt(shop, "/status", "stat", `{"status":{"phase":"up","replicas":1},"spec":{"note":"ignored"}}`)
		t.mergeAt(shop, "/scale", "scaler", `{"spec":{"replicas":5}}`).get(shop)
		t.mergeAt(shop, "", "metadata", `{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["example.com/f"]}}`)
		t.merge(shop, "metadata", `{"metadata":{"finalizers":null}}`)
	},
	"SSA-05 SSA-06 two managers": func(t *tale) {
		t.create(configMap, "kubectl", `"data":{"key":"some value"}`)
		t.merge(configMap, "kube-controller-manager", `{"data":{"key":"new value"}}`)
		t.apply(configMap, "kubectl", `"data":{"key":"new value"}`)
	},
	"SSA-07 an update takes": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a"}`)
		t.merge(shop, "b", `{"spec":{"note":"b"}}`)
		t.merge(shop, "c", `{"spec":{"replicas":null}}`)
		t.merge(shop, "a", `{"spec":{"note":"c"}}`)
	},
	"SSA-08 conflicts": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a","set":["x"],"ports":[{"port":80,"name":"web"}]}`)
		t.apply(shop, "b", `"spec":{"note":"b"}`)
		t.apply(shop, "b", `"spec":{"note":"b","replicas":2,"ports":[{"port":80,"name":"other"}]}`)
		t.merge(shop, "c", `{"spec":{"size":"large"}}`)
		t.apply(shop, "b", `"spec":{"note":"b","size":"tiny"}`)
		t.mergeAt(shop, "/status", "s", `{"status":{"phase":"up"}}`)
		t.applyAt(shop, "/status", "b", "", t.body(shop, "", `"status":{"phase":"down"}`))
		t.get(shop)
	},
	"SSA-09 SSA-11 SSA-25 sharing": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"n"}`)
		t.apply(shop, "b", `"spec":{"replicas":1}`)
		t.apply(shop, "b", `"spec":{"replicas":2}`)
		t.apply(shop, "a", `"spec":{"note":"n"}`)
		t.apply(shop, "b", `"spec":{"replicas":2}`)
		t.apply(shop, "b", ``)
	},
	"SSA-10 force": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a"}`)
		t.merge(shop, "u", `{"spec":{"size":"large"}}`)
		t.force(shop, "b", `"spec":{"replicas":2,"note":"b","size":"tiny"}`)
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a"}`)
	},
	"SSA-12 SSA-13 omitting": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a","size":"large","set":["x","y"],"labels":{"a":"1","b":"2"},"ports":[{"port":80},{"port":81}]}`)
		t.apply(shop, "b", `"spec":{"set":["x"],"labels":{"a":"1"},"ports":[{"port":80}]}`)
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.apply(shop, "b", ``)
	},
	"SSA-14 managedFields in the body": func(t *tale) {
		t.applyAt(configMap, "", "a", "", t.body(configMap, `"managedFields":[{"manager":"x"}]`, ""))
		t.applyAt(configMap, "", "a", "", t.body(configMap, `"managedFields":[]`, ""))
		t.applyAt(configMap, "", "a", "", t.body(configMap, `"managedFields":null`, `"data":{"a":"b"}`))
	},
	"SSA-15 intents that are not valid": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":-1}`)
		t.apply(shop, "a", `"spec":{"unknown":1}`)
		t.apply(shop, "a", `"spec":{"replicas":"many"}`)
		t.apply(shop, "a", `"spec":{"set":["a","a"]}`)
		t.apply(shop, "a", `"spec":{"ports":[{"port":1},{"port":1}]}`)
		t.apply(shop, "a", `"spec":{"ports":[{"name":"no key"}]}`)
		t.apply(shop, "a", `"spec":null`)
		t.get(shop)
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.applyAt(shop, "", "a", "", t.body(shop, `"resourceVersion":"1"`, `"spec":{"replicas":2}`))
		t.applyAt(shop, "", "a", "", t.body(shop, `"uid":"wrong"`, `"spec":{"replicas":2}`))
		t.apply(shop, "a", `"spec":{"replicas":-1}`)
		t.get(shop)
	},
	"SSA-15 bodies that are not the object": func(t *tale) {
		for _, body := range []string{``, `{}`, `null`, `[]`, `"x"`, `{`, "a: b: c", `{"apiVersion":"v1"}`, `{"kind":"ConfigMap"}`, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`,
			`{"apiVersion":"v2","kind":"ConfigMap"}`, `{"apiVersion":"a/b/c","kind":"ConfigMap"}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"another"}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + t.name + `","namespace":"another"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":7}`, `{"apiVersion":1,"kind":"ConfigMap"}`,
			`{"apiVersion":"v1","kind":"ConfigMap","data":[]}`, `{"apiVersion":"v1","kind":"ConfigMap","unknown":{}}`} {
			t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=a", Apply, body)
		}
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=a&fieldValidation=Strict", Apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+t.name+`"},"data":{"a":"1","a":"2"}}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=a&dryRun=All", Apply, t.body(configMap, "", `"data":{"dry":"run"}`))
		t.get(configMap)
		t.applyAt(configMap, "", "a", "", t.body(configMap, `"resourceVersion":"1"`, ""))
		t.send("PATCH", shops+"/"+t.name+"/status?fieldManager=a", Apply, t.body(shop, "", `"status":{"phase":"x"}`))
		t.send("PATCH", shops+"/"+t.name+"/scale?fieldManager=a", Apply, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"`+t.name+`"},"spec":{"replicas":3}}`)
	},
	"SSA-33 status and scale": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a"},"status":{"phase":"ignored"}`)
		t.applyAt(shop, "/status", "s", "", t.body(shop, "", `"spec":{"note":"ignored"},"status":{"phase":"up","conditions":[{"type":"Ready","status":"True"}]}`))
		t.applyAt(shop, "/status", "s2", "", t.body(shop, "", `"status":{"conditions":[{"type":"Open","status":"False"}]}`))
		t.applyAt(shop, "/status", "s2", "", t.body(shop, "", `"status":{"conditions":[{"type":"Ready","status":"False"}]}`))
		t.applyAt(shop, "/status", "s2", "", t.body(shop, "", `"status":{}`))
		t.mergeAt(shop, "/scale", "hpa", `{"spec":{"replicas":4}}`).get(shop)
		t.apply(shop, "a", `"spec":{"replicas":1,"note":"a"}`)
		t.apply(shop, "a", `"spec":{"note":"a"}`)
		t.send("PUT", shops+"/"+t.name+"/scale?fieldManager=hpa", JSON, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"`+t.name+`","namespace":"`+Namespace+`"},"spec":{"replicas":7}}`)
		t.get(shop)
	},
	"SSA-05 more than ten updaters": func(t *tale) {
		t.create(configMap, "m00", `"data":{"k0":"v"}`)
		for i := 1; i < 13; i++ {
			t.merge(configMap, fmt.Sprintf("m%02d", i), fmt.Sprintf(`{"data":{"k%d":"v"}}`, i))
		}
		t.apply(configMap, "applier", `"data":{"k0":"v"}`)
	},
}
