package rules

// language is where rules may be, and what comes of them.
var language = map[string]func(*tale){
	"CEL-01 messages, reasons and paths": func(t *tale) {
		t.define(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"object","properties":{"c":{"type":"string"},"x.y":{"type":"string"}}},"l":{"type":"array","maxItems":9,"items":{"type":"object","properties":{"a":{"type":"integer",`+rules(`self < 5`)+`}}}},
 "m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer",`+rules(`self < 5`)+`}}},`+rules(
			`{"rule":"self.a != 1","message":"plain"}`, `{"rule":"self.a != 1","message":"with\" quotes, ünïcode"}`, `{"rule":"self.a != 2","reason":"FieldValueForbidden","fieldPath":".b.c"}`,
			`{"rule":"self.a != 2","reason":"FieldValueRequired","fieldPath":".b['x.y']","message":"give it"}`, `{"rule":"self.a != 2","reason":"FieldValueDuplicate","fieldPath":".a"}`,
			`{"rule":"self.a != 2","reason":"FieldValueInvalid"}`, `{"rule":"self.a != 3","messageExpression":"self.a > 2 ? 'a is large' : 'a is small'"}`, `{"rule":"self.a != 3","messageExpression":"'' + ''","message":"instead of an empty one"}`,
			`{"rule":"self.a != 3","messageExpression":"string(self.l[7].a)","message":"instead of an error"}`, `{"rule":"self.a != 3","messageExpression":"string(self.l[7].a)"}`, `{"rule":"self.a != 3","messageExpression":"'two\\nlines'"}`,
			`{"rule":"self.a != 3","messageExpression":"'  '"}`, `{"rule":"self.a\n != 4","message":"over two lines"}`, `{"rule":"self.b.c == 'x' || self.a < 100"}`)+`}`, `,`+rules(`{"rule":"self.metadata.name != 'singleton'","message":"not that name"}`, `self.kind == 'Thing'`, `self.apiVersion.endsWith('/v1')`, `!has(self.metadata.generateName)`))
		t.trySpecs(`{"a":0}`, `{"a":1}`, `{"a":2}`, `{"a":3,"l":[]}`, `{"a":4}`, `{"a":100}`, `{}`, `{"a":0,"l":[{"a":1},{"a":5},{}],"m":{"x":9,"y/z":5,"ok":1}}`, `null`)
		t.add(step("POST", t.Things("v1"), t.body("singleton", `"spec":{"a":0}`)))
		t.try(`"other":1`)
	},
	"CEL-02 the samples": func(t *tale) {
		const text = `{"type":"string","maxLength":9}`
		t.define(`{"type":"object","properties":{"minReplicas":{"type":"integer"},"replicas":{"type":"integer"},"maxReplicas":{"type":"integer"},"stateCounts":{"type":"object","additionalProperties":{"type":"integer"}},
 "list1":{"type":"array","items":{"type":"string"}},"list2":{"type":"array","items":{"type":"string"}},"envs":{"type":"array","maxItems":9,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":`+text+`,"value":`+text+`}}},
 "created":{"type":"string","format":"date-time"},"ttl":{"type":"string","format":"duration"},"expired":{"type":"string","format":"date-time"},"health":{"type":"string"},
 "widgets":{"type":"array","maxItems":9,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["key"],"items":{"type":"object","required":["key"],"properties":{"key":`+text+`,"foo":{"type":"integer"}}}},
 "either":{"x-kubernetes-int-or-string":true,`+rules(`type(self) == string ? self == '99%' : self == 42`)+`},
 "set1":{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":`+text+`},"set2":{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":`+text+`},
 "names":{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":`+text+`},"details":{"type":"object","maxProperties":9,"additionalProperties":`+text+`}},`+rules(
			`self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas`, `'Available' in self.stateCounts`, `(self.list1.size() == 0) != (self.list2.size() == 0)`,
			`self.envs.all(e, e.name != 'MY_ENV' || e.value.matches('^[a-zA-Z]*$'))`, `has(self.expired) && self.created + self.ttl < self.expired`, `self.health.startsWith('ok')`,
			`self.widgets.exists(w, w.key == 'x' && w.foo < 10)`, `self.set1.all(e, !(e in self.set2))`, `self.names.size() == self.details.size() && self.names.all(n, n in self.details)`,
			`self.details.all(key, key.matches('^[a-zA-Z]*$'))`, `self.details.all(key, self.details[key].matches('^[a-zA-Z]*$'))`)+`}`, `,`+rules(`self.metadata.name == 'x'`))
		t.trySpecs(`{"minReplicas":1,"replicas":2,"maxReplicas":3,"stateCounts":{"Available":1},"list1":["a"],"list2":[],"envs":[{"name":"MY_ENV","value":"abc"},{"name":"o","value":"1"}],"created":"2024-01-01T00:00:00Z","ttl":"1h","expired":"2024-01-01T02:00:00Z","health":"okay","widgets":[{"key":"x","foo":1}],"either":42,"set1":["a"],"set2":["b"],"names":["n"],"details":{"n":"v"}}`,
			`{"minReplicas":3,"replicas":2,"maxReplicas":3,"stateCounts":{"Gone":1},"list1":["a"],"list2":["b"],"envs":[{"name":"MY_ENV","value":"1"}],"created":"2024-01-01T00:00:00Z","ttl":"3h","expired":"2024-01-01T02:00:00Z","health":"bad","widgets":[{"key":"x","foo":10}],"either":"98%","set1":["a"],"set2":["a"],"names":["n"],"details":{"m1":"v1"}}`,
			`{"either":"99%"}`, `{"either":1.5}`)
	},
	"CEL-01 every level": func(t *tale) {
		t.define(`{"type":"object","properties":{"i":{"type":"integer",`+rules(`self % 2 == 0`)+`},"n":{"type":"number",`+rules(`self < 1.5`)+`},"b":{"type":"boolean",`+rules(`self`)+`},"s":{"type":"string",`+rules(`self.size() < 3`)+`},
 "l":{"type":"array","items":{"type":"array","items":{"type":"integer",`+rules(`self > 0`)+`},`+rules(`self.size() < 3`)+`},`+rules(`self.size() < 2`)+`},
 "nul":{"type":"object","nullable":true,"properties":{"a":{"type":"integer","nullable":true,`+rules(`self > 1`)+`}},`+rules(`has(self.a)`)+`},
 "d":{"type":"object","default":{"x":1},"properties":{"x":{"type":"integer"},"y":{"type":"integer",`+rules(`self != 8`)+`}},`+rules(`self.x + self.?y.orValue(7) == 8`)+`},
 "e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"properties":{"z":{"type":"integer"}},`+rules(`self.kind == 'Pod' && self.metadata.name.startsWith('p')`, `!has(self.z) || self.z > 0`)+`}},`+rules(`!has(self.i) || self.i < 100`)+`}`, ``)
		t.trySpecs(`{"i":3,"n":2,"b":false,"s":"long"}`, `{"i":102,"n":1,"b":true,"s":"ab"}`, `{"l":[[0,1],[1,2,3]]}`, `{"l":[[1]]}`, `{"nul":null}`, `{"nul":{"a":null}}`, `{"nul":{}}`, `{"nul":{"a":1}}`,
			`{"d":{"x":2}}`, `{"d":{"x":0,"y":8}}`, `{"d":null}`, `{"e":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q"}}}`, `{"e":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"},"z":0,"unknown":{"a":1}}}`,
			`{"e":{"kind":"Pod"}}`, `{"i":"3"}`, `{"i":3,"s":7}`)
	},
}
