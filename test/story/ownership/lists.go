package ownership

// lists are the types of lists.
var lists = map[string]func(*tale){
	"SSA-16 atomic lists": func(t *tale) {
		t.apply(shop, "a", `"spec":{"list":[{"a":"1"},{"a":"2"}]}`)
		t.apply(shop, "b", `"spec":{"list":[{"a":"3"}]}`)
		t.apply(shop, "b", `"spec":{"list":[{"a":"1"},{"a":"2"}]}`)
		t.merge(shop, "c", `{"spec":{"list":[{"a":"1"}]}}`)
		t.apply(shop, "a", `"spec":{}`)
	},
	"SSA-17 sets": func(t *tale) {
		t.apply(shop, "a", `"spec":{"set":["x","y"]}`)
		t.apply(shop, "b", `"spec":{"set":["y","z"]}`)
		t.apply(shop, "a", `"spec":{"set":["x"]}`)
		t.apply(shop, "b", `"spec":{"set":["z"]}`)
		t.merge(shop, "c", `{"spec":{"set":["w","x"]}}`)
		t.apply(shop, "b", `"spec":{"set":["v","x","w"]}`)
		t.merge(shop, "d", `{"spec":{"set":["x","x"]}}`)
	},
	"SSA-18 maps by keys": func(t *tale) {
		t.apply(shop, "a", `"spec":{"ports":[{"port":80,"name":"web","tags":["a"]},{"port":80,"protocol":"UDP","name":"quic"}]}`)
		t.apply(shop, "b", `"spec":{"ports":[{"port":80,"tags":["b"]},{"port":443,"name":"tls"}]}`)
		t.apply(shop, "b", `"spec":{"ports":[{"port":443,"name":"tls"}]}`)
		t.apply(shop, "a", `"spec":{"ports":[{"port":80,"protocol":"UDP","name":"quic"}]}`)
		t.merge(shop, "c", `{"spec":{"ports":[{"port":443,"protocol":"TCP","name":"changed"},{"port":1,"protocol":"TCP"}]}}`)
		t.apply(shop, "a", `"spec":{"ports":[{"port":2},{"port":443},{"port":1,"name":"one"}]}`)
		t.apply(shop, "a", ``)
	},
	"SSA-18 order": func(t *tale) {
		t.apply(shop, "a", `"spec":{"ports":[{"port":3},{"port":1}],"set":["c","a"]}`)
		t.apply(shop, "b", `"spec":{"ports":[{"port":2},{"port":1}],"set":["b","a"]}`)
		t.apply(shop, "a", `"spec":{"ports":[{"port":1},{"port":3},{"port":4}],"set":["a","c","d"]}`)
	},
}

// metadata is what is tracked of it.
var metadata = map[string]func(*tale){
	"SSA-05 metadata": func(t *tale) { // owners are of a kind that nobody serves, so that nobody collects what they own
		t.applyAt(shop, "", "a", "", t.body(shop, `"labels":{"a":"1"},"annotations":{"n":"1"},"finalizers":["example.com/a"]`, ""))
		t.applyAt(shop, "", "b", "", t.body(shop, `"labels":{"b":"1"},"finalizers":["example.com/b"],"ownerReferences":[{"apiVersion":"owners.example.com/v1","kind":"Owner","name":"o","uid":"u1"}]`, ""))
		t.applyAt(shop, "", "a", "", t.body(shop, `"labels":{"b":"2"},"finalizers":["example.com/b"]`, ""))
		t.applyAt(shop, "", "b", "", t.body(shop, `"finalizers":["example.com/b"]`, ""))
		t.applyAt(shop, "", "a", "", t.body(shop, ``, ""))
		t.merge(shop, "c", `{"metadata":{"generation":7,"creationTimestamp":"2020-01-01T00:00:00Z","labels":{"c":"1"}}}`)
		t.merge(shop, "c", `{"metadata":{"finalizers":null}}`)
	},
	"SSA-29 created with managers": func(t *tale) {
		t.send("POST", configMaps+"?fieldManager=restore", JSON, t.body(configMap, `"managedFields":[{"manager":"old","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]`, `"data":{"k":"1","l":"2"}`))
		t.apply(configMap, "old", `"data":{}`)
	},
	"SSA-12 nothing changes": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.merge(shop, "b", `{"spec":{"replicas":1}}`)
		t.merge(shop, "b", `{}`)
		t.create(shop, "b", ``)
	},
}

// versions are what several of them mean.
var versions = map[string]func(*tale){
	"SSA-26 another version": func(t *tale) {
		t.apply(betaShop, "a", `"spec":{"replicas":1,"note":"a"}`)
		t.apply(shop, "a", `"spec":{"replicas":2}`)
		t.apply(betaShop, "b", `"spec":{"replicas":3}`)
		t.merge(betaShop, "u", `{"spec":{"note":"u"}}`)
		t.merge(shop, "u", `{"spec":{"note":"v"}}`)
		t.apply(shop, "b", `"spec":{"note":"b"}`)
		t.applyAt(shop, "", "b", "", t.body(betaShop, ``, `"spec":{"note":"v"}`))
	},
	"SSA-11 SSA-26 what another manager keeps empty": func(t *tale) {
		t.apply(shop, "a", `"spec":{"note":"n"}`)
		t.apply(betaShop, "b", `"spec":{}`)
		t.apply(betaShop, "a", ``)
		t.apply(shop, "a", `"spec":{"note":"n","labels":{"a":"1"},"nested":{"x":"1"}}`)
		t.apply(shop, "b", `"spec":{"nested":{}}`)
		t.apply(betaShop, "a", `"spec":{"note":"n"}`)
		t.apply(betaShop, "b", `"spec":{"labels":{},"nested":{}}`)
		t.apply(betaShop, "a", `"spec":{"note":"n"}`).get(shop)
	},
	"SSA-29 an unknown version": func(t *tale) {
		t.apply(shop, "a", `"spec":{"replicas":1}`)
		t.merge(shop, "m", `{"metadata":{"managedFields":[{"manager":"gone","operation":"Apply","apiVersion":"ownership.example.com/v0","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]}}`)
	},
}
