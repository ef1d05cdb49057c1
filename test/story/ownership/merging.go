package ownership

import "strings"

// merging is what the types of maps and of values mean, and the way from
// client-side apply.
var merging = map[string]func(*tale){
	"SSA-19 maps": func(t *tale) {
		t.apply(shop, "a", `"spec":{"labels":{"a":"1"},"selector":{"a":"1"},"struct":{"a":"1"}}`)
		t.apply(shop, "b", `"spec":{"labels":{"b":"2"}}`)
		t.apply(shop, "b", `"spec":{"selector":{"b":"2"}}`)
		t.apply(shop, "b", `"spec":{"struct":{"b":"2"}}`)
		t.force(shop, "b", `"spec":{"selector":{"b":"2"},"struct":{"b":"2"}}`)
		t.merge(shop, "c", `{"spec":{"selector":{"c":"3"},"labels":{"a":null}}}`)
		t.apply(shop, "a", `"spec":{"labels":{},"selector":{}}`)
	},
	"SSA-21 free fields": func(t *tale) {
		t.apply(shop, "a", `"spec":{"free":{"x":{"y":1,"l":[{"a":1}]},"z":null},"any":5}`)
		t.apply(shop, "b", `"spec":{"free":{"x":{"w":1.5}},"any":"5"}`)
		t.apply(shop, "b", `"spec":{"free":{"x":{"w":1.5,"l":[{"a":2}]}}}`)
		t.merge(shop, "c", `{"spec":{"free":{"x":{"y":2},"n":{"m":[1,2]}}}}`)
		t.apply(shop, "a", `"spec":{"free":{}}`)
	},
	"SSA-12 nulls and empty values": func(t *tale) {
		t.apply(shop, "a", `"spec":{"nested":null,"note":""}`)
		t.apply(shop, "b", `"spec":{"nested":{"x":"1","y":1}}`)
		t.apply(shop, "b", `"spec":{"nested":{"x":"1","y":1.0}}`)
		t.apply(shop, "b", `"spec":{"nested":{}}`)
		t.apply(shop, "c", `"spec":{"note":null,"replicas":null,"set":[],"list":[],"ports":[]}`)
		t.apply(shop, "c", `"spec":{}`)
	},
	"SSA-24 handing over": func(t *tale) {
		t.apply(shop, "kubectl", `"spec":{"replicas":3,"note":"nginx"}`)
		t.apply(shop, "handover-to-hpa", `"spec":{"replicas":3}`)
		t.apply(shop, "kubectl", `"spec":{"note":"nginx"}`)
		t.mergeAt(shop, "/scale", "hpa", `{"spec":{"replicas":5}}`).get(shop)
	},
	"SSA-31 SSA-32 from client-side apply": func(t *tale) {
		last := t.body(configMap, "", `"data":{"a":"1","b":"2"}`)
		quoted := strings.ReplaceAll(last, `"`, `\"`)
		annotated := func(k string, data string) string {
			return t.body(configMap, `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+k+`"}`, data)
		}
		t.send("POST", configMaps+"?fieldManager=kubectl-client-side-apply", JSON, annotated(quoted, `"data":{"a":"1","b":"2"}`))
		t.merge(configMap, "scaler", `{"data":{"b":"9"}}`)
		t.apply(configMap, "kubectl", `"data":{"a":"1","b":"2"}`)
		t.apply(configMap, "kubectl", `"data":{"a":"5"}`)
		t.apply(configMap, "other", `"data":{"a":"7"}`)
		t.force(configMap, "kubectl", `"data":{"a":"6"}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=kubectl", Apply, annotated(quoted, `"data":{"a":"6"}`))
		t.apply(configMap, "kubectl", `"data":{"a":"8"}`)
	},
	"SSA-20 strategic merge patch": func(t *tale) {
		t.create(configMap, "a", `"data":{"k":"1"}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=s", Strategic, `{"data":{"l":"2","$retainKeys":["l"]}}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=s", Strategic, `{"metadata":{"finalizers":["example.com/x"],"ownerReferences":[{"apiVersion":"owners.example.com/v1","kind":"Owner","name":"o","uid":"u1"}]}}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=s2", Strategic, `{"metadata":{"ownerReferences":[{"apiVersion":"owners.example.com/v1","kind":"Owner","name":"o2","uid":"u2"}]}}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=s2", Strategic, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/x"],"managedFields":[{}]}}`)
	},
	"SSA-29 editing": func(t *tale) {
		t.create(configMap, "a", `"data":{"k":"1","l":"2"}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":"made-up","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]}}`)
		t.apply(configMap, "b", `"data":{"k":"2"}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":"made-up","operation":"Nonsense","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":"made-up","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV2","fieldsV1":{"f:data":{"f:k":{}}}}]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":"made-up","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"data":{"k":{}}}}]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":"made-up","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":"x"}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[7]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[{"manager":7}]}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":null},"data":{"n":"3"}}`)
		t.merge(configMap, "m", `{"metadata":{"managedFields":[]},"data":{"n":"4"}}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=j", JSONPatch, `[{"op":"remove","path":"/metadata/managedFields/0"}]`)
	},
	"SSA-27 SSA-28 clearing": func(t *tale) {
		t.create(configMap, "a", `"data":{"k":"1"}`)
		t.merge(configMap, "b", `{"data":{"l":"1"}}`)
		t.merge(configMap, "c", `{"metadata":{"managedFields":[]}}`)
		t.merge(configMap, "c", `{"metadata":{"managedFields":[{}]}}`)
		t.apply(configMap, "d", `"data":{"k":"5"}`)
		t.send("PATCH", configMaps+"/"+t.name+"?fieldManager=e", JSONPatch, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]},{"op":"replace","path":"/data/k","value":"6"}]`)
		t.apply(configMap, "d", `"data":{"k":"7","m":"1"}`)
		t.send("PUT", configMaps+"/"+t.name+"?fieldManager=p", JSON, t.body(configMap, `"managedFields":[{}]`, `"data":{"k":"6","put":"1"}`))
		t.send("PUT", configMaps+"/"+t.name+"?fieldManager=p", JSON, t.body(configMap, ``, `"data":{"k":"6","put":"2"}`))
	},
	"SSA-27 clearing a Shop": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.merge(shop, "c", `{"metadata":{"managedFields":[{}]}}`)
		t.merge(shop, "c", `{"spec":{"note":"x"}}`)
		t.mergeAt(shop, "/status", "c", `{"metadata":{"managedFields":[{}]},"status":{"phase":"p"}}`)
		t.apply(shop, "a", `"spec":{"replicas":2}`)
		t.apply(shop, "b", `"spec":{"note":"y"}`)
	},
}
