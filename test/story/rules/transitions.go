package rules

import "github.com/wasmgate/wasmgate/test/story"

func step(method, path, body string) story.Step {
	return story.Step{Method: method, Path: path, Type: story.JSON, Body: body}
}

// transitions are rules about changes, and what unchanged fields are forgiven.
var transitions = map[string]func(*tale){
	"CEL-01 transition rules": func(t *tale) {
		t.define(`{"type":"object","properties":{"fixed":{"type":"string",`+rules(`{"rule":"self == oldSelf","message":"immutable"}`)+`},"grow":{"type":"integer",`+rules(`self >= oldSelf`)+`},
 "once":{"type":"string",`+rules(`{"rule":"!oldSelf.hasValue() || oldSelf.value() == self","optionalOldSelf":true}`)+`},"make":{"type":"integer",`+rules(`{"rule":"oldSelf.hasValue() || self == 0","optionalOldSelf":true,"messageExpression":"string(self)"}`)+`},
 "map":{"type":"array","maxItems":9,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer",`+rules(`self >= oldSelf`)+`}}}},
 "obj":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer",`+rules(`self >= oldSelf`)+`}}},`+rules(`{"rule":"!has(oldSelf.fixed) || has(self.fixed)","message":"cannot go"}`)+`}`, ``)
		t.try(`"spec":{"make":1}`)
		t.create("a", `"spec":{"fixed":"x","grow":3,"once":"o","make":0,"map":[{"k":"a","v":1},{"k":"b","v":5}],"obj":{"a":1}}`)
		t.merge("a", `{"spec":{"fixed":"y"}}`, `{"spec":{"fixed":null}}`, `{"spec":{"grow":2}}`, `{"spec":{"grow":4}}`, `{"spec":{"once":"p"}}`, `{"spec":{"make":8}}`, `{"spec":{"map":[{"k":"b","v":4},{"k":"a","v":2},{"k":"c","v":0}]}}`, `{"spec":{"map":[{"k":"b","v":6},{"k":"a","v":2},{"k":"c","v":0}]}}`,
			`{"spec":{"obj":{"a":0}}}`, `{"spec":{"obj":{"b":0}}}`, `{"spec":{"once":null}}`, `{"spec":{"once":"q"}}`, `{"spec":null}`, `{"metadata":{"labels":{"a":"b"}}}`)
	},
	"CEL-01 where transitions are forbidden": func(t *tale) {
		within := func(list string) string {
			return t.definition(`{"type":"object","properties":{"l":{"type":"array",`+list+`"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer",`+rules(`self >= oldSelf`)+`}}}}}}`, ``)
		}
		t.defineTry(within(``), within(`"x-kubernetes-list-type":"atomic",`), within(`"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],`),
			t.definition(`{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer",`+rules(`self >= oldSelf`)+`}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"integer",`+rules(`self >= oldSelf`)+`}}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},`+rules(`self == oldSelf`)+`}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer",`+rules(`{"rule":"self==1","optionalOldSelf":true}`)+`}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"integer",`+rules(`{"rule":"self==1","optionalOldSelf":true}`)+`}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"integer",`+rules(`{"rule":"self==oldSelf.value()","optionalOldSelf":false}`)+`}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"integer",`+rules(`{"rule":"self>0","messageExpression":"string(oldSelf)"}`)+`}}}`, ``))
	},
	"CEL-01 ratcheting of unchanged fields": func(t *tale) {
		open := `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}},"l":{"type":"array","items":{"type":"string"}},"m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"string"}}}},"e":{"type":"string"},"free":{"type":"object","additionalProperties":{"type":"string"}}}}`
		closed := `{"type":"object","required":["must"],"properties":{"must":{"type":"string"},"s":{"type":"string","maxLength":2},"n":{"type":"integer","maximum":5,` + rules(`self != 7`) + `},"o":{"type":"object","required":["c"],"properties":{"a":{"type":"string","pattern":"^a"},"b":{"type":"string"},"c":{"type":"string"}},` + rules(`self.a == 'a'`) + `},"l":{"type":"array","maxItems":1,"items":{"type":"string","maxLength":1,` + rules(`self != 'zz'`) + `}},
 "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"string","enum":["x"],` + rules(`self == 'x'`, `{"rule":"self == oldSelf","message":"no change"}`) + `}}}},"e":{"type":"string","format":"ipv4"},"free":{"type":"object","maxProperties":1,"additionalProperties":{"type":"string","minLength":3,` + rules(`self.size() > 2`) + `}}},` + rules(`{"rule":"!has(self.s) || self.s != 'long'","message":"at the top"}`) + `}`
		t.define(open, ``)
		t.create("a", `"spec":{"s":"long","n":7,"o":{"a":"b","b":"b"},"l":["zz","yy"],"m":[{"k":"a","v":"q"},{"k":"b","v":"q"}],"e":"no","free":{"a":"1","b":"2"}}`)
		t.redefine(story.Version(`{"type":"object","properties":{"spec":`+closed+`}}`), `"spec":{"must":"x","s":"longer"}`, "may not be more than 2")
		t.merge("a", `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"must":"x"}}`, `{"spec":{"s":"other"}}`, `{"spec":{"n":8}}`, `{"spec":{"n":7}}`, `{"spec":{"o":{"b":"c"}}}`, `{"spec":{"o":{"a":"c"}}}`, `{"spec":{"l":["zz","yy","x"]}}`, `{"spec":{"l":["yy","zz"]}}`, `{"spec":{"l":["zz"]}}`,
			`{"spec":{"m":[{"k":"b","v":"q"},{"k":"a","v":"q"}]}}`, `{"spec":{"m":[{"k":"a","v":"r"},{"k":"b","v":"q"}]}}`, `{"spec":{"m":[{"k":"a","v":"q"},{"k":"c","v":"q"}]}}`, `{"spec":{"m":[{"k":"a","v":"x"}]}}`, `{"spec":{"e":"nor"}}`, `{"spec":{"free":{"a":"3"}}}`, `{"spec":{"free":{"c":"4"}}}`, `{"spec":{"free":{"a":"abc"}}}`, `{"spec":{"s":null}}`, `{"spec":{"s":"long"}}`, `{"spec":{"s":7}}`)
		t.try(`"spec":{"must":"x","s":"long","n":7,"o":{"a":"b"},"l":["zz","yy"],"m":[{"k":"a","v":"q"}],"e":"no","free":{"a":"1"}}`)
	},
	"CEL-01 what ratcheting does not forgive": func(t *tale) {
		open := `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
		closed := `{"type":"object","properties":{"any":{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}}},"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"other":{"type":"string"},"not":{"type":"integer","not":{"enum":[3]}},"typed":{"type":"integer"},"uniq":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}},"emb":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`
		t.define(open, ``)
		t.create("a", `"spec":{"any":{"c":"x"},"not":3}`)
		t.create("b", `"spec":{"set":["a","a"]}`)
		t.create("c", `"spec":{"typed":"text"}`)
		t.create("d", `"spec":{"uniq":[{"k":"a"},{"k":"a"}]}`)
		t.create("e", `"spec":{"emb":{"kind":"x"}}`)
		t.redefine(story.Version(`{"type":"object","properties":{"spec":`+closed+`}}`), `"spec":{"not":3}`, "must not validate")
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			t.merge(name, `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"other":"x"}}`)
		}
		t.merge("a", `{"spec":{"any":{"c":"y"}}}`, `{"spec":{"any":null}}`)
		t.merge("b", `{"spec":{"set":["a","a","b"]}}`)
	},
}
