package rules

// types are what rules see of a schema.
var types = map[string]func(*tale){
	"CEL-21 objects": func(t *tale) {
		const properties = `"o":{"type":"object","properties":{"a":{"type":"string"}}},"m":{"type":"object","additionalProperties":{"type":"integer"}},
 "e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},"p":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"string"}}},"any":{"x-kubernetes-preserve-unknown-fields":true}`
		t.define(`{"type":"object","properties":{`+properties+`},`+rules(`!has(self.o) || self.o.a == 'x'`, `!has(self.m) || self.m['k'] == 1`, `!has(self.m) || self.m.k == 1`, `!has(self.e) || self.e.apiVersion == 'v1' && self.e.metadata.name == 'n'`, `!has(self.p) || self.p.known == 'k'`)+`}`, ``)
		t.trySpecs(`{"o":{"a":"x"},"m":{"k":1},"e":{"apiVersion":"v1","kind":"P","metadata":{"name":"n"}},"p":{"known":"k","other":1},"any":{"x":1}}`, `{"o":{},"m":{},"e":{"apiVersion":"v1","kind":"P"},"p":{}}`, `{"m":{"k":2}}`)
		t.ruled(properties, `self.o.b == 'x'`, `self.m.k == 'x'`, `self.e.metadata.namespace == 'x'`, `self.e.metadata.generateName == 'x'`, `self.e.spec.x == 1`, `self.p.other == 1`, `self.any.x == 1`, `has(self.any)`, `self.o == self.o`, `type(self) == type(self.o)`, `self.e.metadata == self.e.metadata`)
	},
	"CEL-22 scalars": func(t *tale) {
		const properties = `"ios":{"x-kubernetes-int-or-string":true},"b":{"type":"boolean"},"n":{"type":"number"},"f":{"type":"number","format":"float"},"i":{"type":"integer"},"i32":{"type":"integer","format":"int32"},"s":{"type":"string"},"null":{"type":"string","nullable":true},
 "byte":{"type":"string","format":"byte"},"date":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time"},"odd":{"type":"string","format":"datetime"},"dur":{"type":"string","format":"duration"},"bin":{"type":"string","format":"binary"}`
		t.define(`{"type":"object","properties":{`+properties+`},`+rules(`!has(self.ios) || self.ios < 100 || self.ios == '50%'`, `!has(self.ios) || (type(self.ios) == int ? self.ios < 100 : self.ios == '50%')`, `!has(self.n) || type(self.n) == double`, `!has(self.n) || self.n < 3`, `!has(self.i) || type(self.i) == int`,
			`!has(self.byte) || self.byte == b'ab'`, `!has(self.byte) || size(self.byte) == 2`, `!has(self.date) || self.date.getFullYear() == 2024`, `!has(self.time) || self.time < timestamp('2024-06-01T00:00:00Z')`, `!has(self.odd) || self.odd.size() > 0`, `!has(self.dur) || self.dur == duration('90m')`, `!has(self.__null__) || self.__null__ == 'x'`, `!has(self.bin) || self.bin == 'a'`)+`}`, ``)
		t.trySpecs(`{"ios":50}`, `{"ios":"50%"}`, `{"ios":"51%"}`, `{"ios":100}`, `{"ios":1.5}`, `{"n":2}`, `{"n":3.5}`, `{"i":2}`, `{"i":2.0}`, `{"i":2.5}`, `{"i":9223372036854775807}`, `{"i":9223372036854775808}`, `{"i32":2147483648}`, `{"f":1e39}`, `{"byte":"YWI="}`, `{"byte":"YWM="}`, `{"byte":"?"}`, `{"date":"2024-05-06"}`, `{"date":"2023-05-06"}`, `{"date":"x"}`,
			`{"time":"2024-05-06T00:00:00+02:00"}`, `{"time":"2024-07-06T00:00:00.5Z"}`, `{"time":"2024"}`, `{"odd":""}`, `{"dur":"1h30m"}`, `{"dur":"1h"}`, `{"dur":"1 day"}`, `{"null":null}`, `{"s":null}`, `{"bin":"a"}`)
		t.ruled(properties, `self.n == 1`, `self.i == 1.0`, `self.i < 1.5`, `self.i == 1u`, `self.ios == 1 || self.ios == true`, `self.byte == 'x'`, `self.odd.getFullYear() == 1`, `self.date == '2024'`, `self.__null__ == null`, `self.s + self.i == ''`)
	},
	"CEL-23 sets and maps": func(t *tale) {
		const list = `"type":"array","maxItems":9`
		item := `"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":9},"v":{"type":"integer"}}}`
		keyed := `{` + list + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],` + item + `}`
		set := `{` + list + `,"x-kubernetes-list-type":"set","items":{"type":"integer"}}`
		plain := `{` + list + `,"items":{"type":"integer"}}`
		t.define(`{"type":"object","properties":{"s":`+set+`,"t":`+set+`,"a":`+plain+`,"b":`+plain+`,"m":`+keyed+`,"n":`+keyed+`},`+rules(`!has(self.s) || self.s == self.t`, `!has(self.a) || self.a == self.b`, `has(self.m) && has(self.n)`, `!has(self.s) || self.s == [2, 1]`, `!has(self.s) || [2, 1] == self.s`,
			`=(self.s + self.t).size()`, `=(self.s + self.t)[3]`, `=(self.a + self.b).size()`, `=(self.m + self.m)[1].v`, `=(self.m + self.m).size()`)+`}`, ``)
		t.trySpecs(`{"s":[1,2],"t":[2,1],"a":[1,2],"b":[2,1],"m":[{"k":"a","v":1},{"k":"b","v":2}],"n":[{"k":"b","v":2},{"k":"a","v":1}]}`, `{"s":[3,1,4],"t":[5,1,2],"a":[3,1],"b":[1],"m":[{"k":"a","v":1},{"k":"b","v":2}],"n":[{"k":"c","v":3},{"k":"a","v":9}]}`,
			`{"s":[1,1]}`, `{"m":[{"k":"a"},{"k":"a"}]}`, `{"m":[{"v":1}]}`)
	},
	"CEL-24 names": func(t *tale) {
		const names = `"namespace":{"type":"integer"},"x-prop":{"type":"integer"},"redact__d":{"type":"integer"},"string":{"type":"string"},"a.b":{"type":"integer"},"a/b":{"type":"integer"},"in":{"type":"integer"},"if":{"type":"integer"},"_a":{"type":"integer"},"1a":{"type":"integer"},"a b":{"type":"integer"},"$ref2":{"type":"integer"},"é":{"type":"integer"},"sprint":{"type":"integer"},"true":{"type":"integer"},"self":{"type":"integer"},"__dash__":{"type":"integer"},"int":{"type":"integer"}`
		t.define(`{"type":"object","properties":{`+names+`},`+rules(`self.__namespace__ > 0`, `self.x__dash__prop > 0`, `self.redact__underscores__d > 0`, `self.string.startsWith('kube')`, `self.a__dot__b > 0`, `self.a__slash__b > 0`, `self.__in__ > 0`, `self.__if__ > 0`, `self._a > 0`, `self.sprint > 0`, `self.__true__ > 0`, `self.self > 0`, `self.__underscores__dash__underscores__ > 0`, `self.int > 0`)+`}`, ``)
		t.trySpecs(`{"namespace":0,"x-prop":0,"redact__d":0,"string":"x","a.b":0,"a/b":0,"in":0,"if":0,"_a":0,"sprint":0,"true":0,"self":0,"__dash__":0,"int":0}`, `{"namespace":1}`)
		t.ruled(names, `self.namespace > 0`, `self.1a > 0`, `self.a b > 0`, `self.é > 0`, `self.__int__ > 0`, `self['x-prop'] > 0`, `self.in > 0`, `self.redact__d > 0`, `self.__string__ == ''`, "self.`x-prop` > 0")
	},
}
