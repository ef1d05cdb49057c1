package rules

import (
	"maps"
	"slices"
)

// texts are values for strings of each format.
var texts = map[string][]string{
	"uri":          {"http://a/b", "x"},
	"email":        {"a@b.c", "x"},
	"hostname":     {"a.b", "-"},
	"ipv4":         {"1.2.3.4", "01.2.3.4", "::1"},
	"ipv6":         {"::1", "1.2.3.4"},
	"cidr":         {"1.2.3.4/8", "1.2.3.4"},
	"mac":          {"01:02:03:04:05:06", "x"},
	"uuid":         {"123e4567-e89b-12d3-a456-426614174000", "x"},
	"uuid4":        {"123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
	"isbn":         {"0-306-40615-2", "x"},
	"creditcard":   {"4111111111111111", "1"},
	"ssn":          {"111-22-3333", "x"},
	"hexcolor":     {"#fff", "fff"},
	"rgbcolor":     {"rgb(1,2,3)", "x"},
	"byte":         {"YWI=", "a"},
	"password":     {"x"},
	"date":         {"2024-01-01", "2024-13-01"},
	"duration":     {"1h", "1 week", "x"},
	"datetime":     {"x"},
	"date-time":    {"2024-01-01T00:00:00Z", "2024-01-01"},
	"bsonobjectid": {"507f1f77bcf86cd799439011", "x"},
	"isbn10":       {"0306406152", "x"},
	"int32":        {"x"},
}

// objects are what becomes of objects besides rules.
var objects = map[string]func(*tale){
	"CRD-05 pruning, defaults and nulls": func(t *tale) {
		t.define(`{"type":"object","properties":{"d":{"type":"object","default":{},"properties":{"a":{"type":"string","default":"x"},"b":{"type":"object","properties":{"c":{"type":"integer","default":3}}}}},"l":{"type":"array","items":{"type":"object","properties":{"p":{"type":"integer","default":80},"q":{"type":"string"}}}},"m":{"type":"object","additionalProperties":{"type":"object","nullable":true,"properties":{"z":{"type":"string","default":"zz"}}}},
 "n":{"type":"string","nullable":true,"default":"def"},"nn":{"type":"string","default":"def"},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"object","properties":{"a":{"type":"string"}}}}},"emb":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}},"ios":{"x-kubernetes-int-or-string":true,"default":"50%"},"any":{"x-kubernetes-preserve-unknown-fields":true}}}`, ``)
		t.trySpecs(`{}`, `{"d":{"b":{}}}`, `{"d":null}`, `{"d":{"a":null,"b":null,"u":{"v":1}}}`, `{"l":[{},{"p":1,"x":2},{"p":null}]}`, `{"l":[null]}`, `{"m":{"a":null,"b":{},"c":{"z":null,"y":1}}}`, `{"n":null,"nn":null}`, `{"free":{"x":{"y":1},"known":{"a":"b","c":"d"}}}`,
			`{"emb":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"y"},"unknown":1},"spec":{"a":"b","c":1},"status":{}}}`, `{"emb":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"x":1}}}}`, `{"emb":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"-A"}}}`, `{"emb":{"kind":1}}`, `{"emb":{}}`, `{"emb":{"apiVersion":"a/b/c","kind":"Po d","metadata":{"namespace":"A B","labels":{"a b":"c"},"creationTimestamp":"x"}}}`, `{"ios":true}`, `{"ios":null}`, `{"any":[1,{"a":null}]}`, `null`, `[]`, `"x"`, `{"d":[]}`, `{"l":{}}`, `{"nn":1}`, `{"l":[[]]}`)
		t.try(`"status":{"a":1},"extra":{}`, `"status":null`)
	},
	"CRD-05 bounds, enums, formats and patterns": func(t *tale) {
		formats := ""
		for _, f := range []string{"bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration", "datetime", "date-time", "int32"} {
			formats += `,"` + f + `":{"type":"string","format":"` + f + `"}`
		}
		t.define(`{"type":"object","minProperties":1,"maxProperties":4,"properties":{"i":{"type":"integer","minimum":1,"maximum":5,"exclusiveMaximum":true,"multipleOf":2},"n":{"type":"number","minimum":0.5,"exclusiveMinimum":true,"multipleOf":0.1},"s":{"type":"string","minLength":2,"maxLength":3,"pattern":"^[a-zé]*$"},"e":{"type":"string","enum":["a","b"]},"en":{"type":"number","enum":[1,2.5]},"eo":{"type":"object","enum":[{"a":1}],"properties":{"a":{"type":"integer"}}},"l":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"boolean"}},
 "req":{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}},"one":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]},"all":{"type":"string","allOf":[{"minLength":2},{"pattern":"^a"}]},"not":{"type":"string","not":{"pattern":"^a"}}`+formats+`}}`, ``)
		t.trySpecs(`{}`, `{"i":1,"n":1,"s":"ab","e":"a","l":[true]}`, `{"i":1}`, `{"i":0}`, `{"i":5}`, `{"i":4}`, `{"i":-9223372036854775808}`, `{"i":1e3}`, `{"i":true}`, `{"n":0.5}`, `{"n":0.7}`, `{"n":0.55}`, `{"n":"1"}`, `{"s":"é"}`, `{"s":"éé"}`, `{"s":"abcd"}`, `{"s":"AB"}`, `{"s":null}`, `{"e":"c"}`, `{"e":1}`, `{"en":2.5}`, `{"en":1.0}`, `{"en":2}`, `{"eo":{"a":1}}`, `{"eo":{"a":2}}`, `{"l":[]}`, `{"l":[true,false,true]}`, `{"l":[1]}`, `{"req":{}}`, `{"req":{"a":"x","b":null}}`, `{"one":{}}`, `{"one":{"a":"x"}}`, `{"one":{"a":"x","b":"y"}}`, `{"all":"a"}`, `{"all":"bb"}`, `{"all":"ab"}`, `{"not":"ab"}`, `{"not":"b"}`)
		t.trySpecs(`{"n":1e400}`)
		for _, f := range slices.Sorted(maps.Keys(texts)) {
			for _, v := range texts[f] {
				t.trySpecs(`{"` + f + `":"` + v + `"}`)
			}
		}
	},
	"CRD-05 metadata of objects": func(t *tale) {
		t.define(`{"type":"object"}`, ``)
		for _, m := range []string{`"name":"x","labels":{"a":"b"}`, `"name":"x","labels":{"a":1}`, `"name":"x","labels":[]`, `"name":"x","labels":null`, `"name":"x","annotations":{"a b":"c"}`, `"name":"x","finalizers":["x"]`, `"name":"x","finalizers":["a/b","-"]`, `"name":"x","ownerReferences":[{"apiVersion":"v1"}]`, `"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"c","controller":true},{"apiVersion":"v1","kind":"A","name":"b","uid":"d","controller":true}]`, `"name":"x","uid":"mine"`, `"name":"x","resourceVersion":"5"`, `"name":"x","generation":-1`, `"name":"x","generation":7`, `"name":"x","deletionGracePeriodSeconds":3`, `"name":"x","creationTimestamp":"soon"`, `"name":"x","unknown":{"a":1}`, `"name":"x","namespace":"y"`, `"name":7`, `"name":"x","selfLink":"/a"`, `"name":"x","managedFields":[{"manager":"a"}]`} {
			t.add(step("POST", t.Things("v1")+"?dryRun=All", `{"apiVersion":"`+t.Group()+`/v1","kind":"Thing","metadata":{`+m+`}}`))
			t.add(step("POST", t.Things("v1")+"?dryRun=All&fieldValidation=Strict", `{"apiVersion":"`+t.Group()+`/v1","kind":"Thing","metadata":{`+m+`},"other":1}`))
		}
	},
}
