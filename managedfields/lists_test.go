package managedfields_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/crd"
)

const (
	ports = `"ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{
		"type":"object","required":["port"],"properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},"name":{"type":"string"}}}}`
	atomicPorts = `"ports":{"type":"array","items":{"type":"object","properties":{"port":{"type":"integer"},"name":{"type":"string"}}}}`
	tags        = `"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`
	data        = `"data":{"type":"object","additionalProperties":{"type":"string"}}`
	atomicData  = `"data":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}}`
)

func TestItemsThatAreLeftOutAreRemoved_SSA13(t *testing.T) {
	s := scenario{kind: define(t, tags, ""), steps: []step{
		{apply: "a", body: `{"spec":{"tags":["x","y"]}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:tags":{"v:\"x\"":{},"v:\"y\"":{}}}}`},
		{apply: "b", body: `{"spec":{"tags":["y","z"]}}`, object: `{"spec":{"tags":["x","y","z"]}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:tags":{"v:\"x\"":{},"v:\"y\"":{}}}}
b Apply example.com/v1 @1 {"f:spec":{"f:tags":{"v:\"y\"":{},"v:\"z\"":{}}}}`},
		{apply: "a", body: `{"spec":{}}`, object: `{"spec":{"tags":["y","z"]}}`, want: `
b Apply example.com/v1 @1 {"f:spec":{"f:tags":{"v:\"y\"":{},"v:\"z\"":{}}}}
a Apply example.com/v1 @2 {"f:spec":{}}`},
	}}
	s.run(t)
}

func TestAtomicListsHaveOneOwner_SSA16(t *testing.T) {
	s := scenario{kind: define(t, atomicPorts, ""), steps: []step{
		{apply: "a", body: `{"spec":{"ports":[{"port":1},{"port":2}]}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:ports":{}}}`},
		{apply: "b", body: `{"spec":{"ports":[{"port":1}]}}`,
			refused: `Apply failed with 1 conflict: conflict with "a": .spec.ports`, causes: `.spec.ports: conflict with "a"`},
		{apply: "b", force: true, body: `{"spec":{"ports":[{"port":3}]}}`, object: `{"spec":{"ports":[{"port":3}]}}`,
			want: `b Apply example.com/v1 @2 {"f:spec":{"f:ports":{}}}`},
	}}
	s.run(t)
}

func TestSetsAreOwnedByElement_SSA17(t *testing.T) {
	s := scenario{kind: define(t, tags, ""), steps: []step{
		{apply: "a", body: `{"spec":{"tags":["x","x"]}}`,
			refused: `failed to create typed patch object (/; example.com/v1, Kind=Foo): .spec.tags: duplicate entries for key [="x"]`},
		{apply: "a", body: `{"spec":{"tags":[{"x":1}]}}`,
			refused: `failed to create typed patch object (/; example.com/v1, Kind=Foo): .spec.tags: element 0: associative list without keys has an element that's a map type`},
		{apply: "a", body: `{"spec":{"tags":["x"]}}`, want: `a Apply example.com/v1 @2 {"f:spec":{"f:tags":{"v:\"x\"":{}}}}`},
		{update: "b", body: `{"metadata":{"uid":"u"},"spec":{"tags":["z","x"]}}`, want: `
a Apply example.com/v1 @2 {"f:spec":{"f:tags":{"v:\"x\"":{}}}}
b Update example.com/v1 @3 {"f:spec":{"f:tags":{"v:\"z\"":{}}}}`},
		{update: "b", body: `{"metadata":{"uid":"u"},"spec":{"tags":["z"]}}`,
			want: `b Update example.com/v1 @3 {"f:spec":{"f:tags":{"v:\"z\"":{}}}}`},
	}}
	s.run(t)
}

func TestMapsAreOwnedByItem_SSA18(t *testing.T) {
	s := scenario{kind: define(t, ports, ""), steps: []step{
		{apply: "a", body: `{"spec":{"ports":[{"port":80,"name":"web"}]}}`,
			want: `a Apply example.com/v1 @0 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`},
		{apply: "b", body: `{"spec":{"ports":[{"port":80,"protocol":"UDP"},{"port":80,"protocol":"TCP","name":"other"}]}}`,
			refused: `Apply failed with 1 conflict: conflict with "a": .spec.ports[port=80,protocol="TCP"].name`,
			causes:  `.spec.ports[port=80,protocol="TCP"].name: conflict with "a"`},
		{apply: "b", body: `{"spec":{"ports":[{"port":443,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}}`,
			object: `{"spec":{"ports":[{"name":"web","port":80},{"port":443,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}
b Apply example.com/v1 @2 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{}}}}}`},
		{apply: "a", body: `{"spec":{"ports":[]}}`, object: `{"spec":{"ports":[{"port":443,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}}`, want: `
b Apply example.com/v1 @2 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{}}}}}`},
		{apply: "c", body: `{"spec":{"ports":[{"port":1},{"port":1,"protocol":"TCP"}]}}`,
			refused: `failed to create typed patch object (/; example.com/v1, Kind=Foo): .spec.ports: duplicate entries for key [port=1,protocol="TCP"]`},
	}}
	s.run(t)
}

func TestDuplicatesThatAreThereDoNotMatter_SSA18(t *testing.T) {
	s := scenario{kind: define(t, ports+","+tags, ""), steps: []step{
		{update: "old", body: `{"spec":{"tags":["x","x","y"],"ports":[{"port":1,"name":"a"},{"port":1,"name":"b"}]}}`,
			want: `old Update example.com/v1 @0 {"f:spec":{".":{},"f:ports":{".":{},"k:{\"port\":1,\"protocol\":\"TCP\"}":{}},"f:tags":{".":{},"v:\"x\"":{},"v:\"y\"":{}}}}`},
		{apply: "a", body: `{"spec":{"tags":["z"]}}`, object: `{"spec":{"ports":[{"name":"a","port":1},{"name":"b","port":1}],"tags":["x","x","y","z"]}}`, want: `
a Apply example.com/v1 @1 {"f:spec":{"f:tags":{"v:\"z\"":{}}}}
old Update example.com/v1 @0 {"f:spec":{".":{},"f:ports":{".":{},"k:{\"port\":1,\"protocol\":\"TCP\"}":{}},"f:tags":{".":{},"v:\"x\"":{},"v:\"y\"":{}}}}`},
		{apply: "a", force: true, body: `{"spec":{"ports":[{"port":1,"name":"c"}]}}`, object: `{"spec":{"ports":[{"name":"c","port":1}],"tags":["x","x","y"]}}`, want: `
a Apply example.com/v1 @2 {"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}
old Update example.com/v1 @0 {"f:spec":{".":{},"f:ports":{},"f:tags":{".":{},"v:\"x\"":{},"v:\"y\"":{}}}}`},
	}}
	s.run(t)
}

func TestMapTypes_SSA19(t *testing.T) {
	s := scenario{kind: define(t, atomicData, ""), steps: []step{
		{apply: "a", body: `{"spec":{"data":{"k":"1"}}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:data":{}}}`},
		{apply: "b", force: true, body: `{"spec":{"data":{"l":"1"}}}`, object: `{"spec":{"data":{"l":"1"}}}`,
			want: `b Apply example.com/v1 @1 {"f:spec":{"f:data":{}}}`},
	}}
	s.run(t)
	s = scenario{kind: define(t, data, ""), steps: []step{
		{apply: "a", body: `{"spec":{"data":{"k":"1"}}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:data":{"f:k":{}}}}`},
		{apply: "b", body: `{"spec":{"data":{"l":"1"}}}`, object: `{"spec":{"data":{"k":"1","l":"1"}}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:data":{"f:k":{}}}}
b Apply example.com/v1 @1 {"f:spec":{"f:data":{"f:l":{}}}}`},
	}}
	s.run(t)
}

func TestMergeKeysOfGoTypesMakeMaps_SSA20(t *testing.T) {
	s := scenario{kind: builtIn(t, "ServiceAccount"), steps: []step{
		{apply: "a", body: `{"metadata":{"name":"x"},"secrets":[{"name":"s"}],"imagePullSecrets":[{"name":"i"}]}`,
			want: `a Apply v1 @0 {"f:imagePullSecrets":{},"f:secrets":{"k:{\"name\":\"s\"}":{}}}`},
	}}
	s.run(t)
}

func TestWithoutMarkersListsAreAtomicAndFieldsAreNot_SSA21(t *testing.T) {
	s := scenario{kind: define(t, `"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"port":{"x-kubernetes-int-or-string":true}`, ""), steps: []step{
		{apply: "a", body: `{"spec":{"port":"http","any":{"a":{"b":1,"c":[{"d":1}]}}}}`,
			want: `a Apply example.com/v1 @0 {"f:spec":{"f:any":{"f:a":{".":{},"f:b":{},"f:c":{}}},"f:port":{}}}`},
		{apply: "b", body: `{"spec":{"any":{"a":{"e":null}}}}`, object: `{"spec":{"any":{"a":{"b":1,"c":[{"d":1}],"e":null}},"port":"http"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:any":{"f:a":{".":{},"f:b":{},"f:c":{}}},"f:port":{}}}
b Apply example.com/v1 @1 {"f:spec":{"f:any":{"f:a":{".":{},"f:e":{}}}}}`},
		{update: "u", body: `{"metadata":{"uid":"u"},"spec":{"any":{"a":{"b":1,"c":[{"d":2}],"e":null}},"port":80}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:any":{"f:a":{".":{},"f:b":{}}}}}
b Apply example.com/v1 @1 {"f:spec":{"f:any":{"f:a":{".":{},"f:e":{}}}}}
u Update example.com/v1 @2 {"f:spec":{"f:any":{"f:a":{"f:c":{}}},"f:port":{}}}`},
		{apply: "a", body: `{"spec":{"other":1}}`, refused: `failed to create typed patch object (/; example.com/v1, Kind=Foo): .spec.other: field not declared in schema`},
		{apply: "a", body: `{"spec":{"any":7}}`, refused: `failed to create typed patch object (/; example.com/v1, Kind=Foo): .spec.any: expected map, got &{7}`},
	}}
	s.run(t)
}

func TestWhatBecomesAtomicIsOwnedAsAWhole_SSA22(t *testing.T) {
	s := scenario{kind: define(t, data+","+ports, ""), steps: []step{
		{apply: "a", body: `{"spec":{"data":{"k":"1"},"ports":[{"port":1}]}}`,
			want: `a Apply example.com/v1 @0 {"f:spec":{"f:data":{"f:k":{}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`},
		{apply: "b", body: `{"spec":{"data":{"l":"1"}}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:data":{"f:k":{}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}
b Apply example.com/v1 @1 {"f:spec":{"f:data":{"f:l":{}}}}`},
		{redefine: define(t, atomicData+","+atomicPorts, ""), update: "u", body: `{"metadata":{"uid":"u","labels":{"l":"1"}},"spec":{"data":{"k":"1","l":"1"},"ports":[{"port":1}]}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:data":{},"f:ports":{}}}
b Apply example.com/v1 @1 {"f:spec":{"f:data":{}}}
u Update example.com/v1 @2 {"f:metadata":{"f:labels":{".":{},"f:l":{}}}}`},
		{apply: "b", body: `{"spec":{"data":{"l":"2"}}}`, refused: `Apply failed with 1 conflict: conflict with "a": .spec.data`, causes: `.spec.data: conflict with "a"`},
	}}
	s.run(t)
}

func TestWhatBecomesGranularStaysOwnedAsAWhole_SSA23(t *testing.T) {
	s := scenario{kind: define(t, atomicData, ""), steps: []step{
		{apply: "manager-one", body: `{"spec":{"data":{"key1":"val1","key2":"val2"}}}`, want: `manager-one Apply example.com/v1 @0 {"f:spec":{"f:data":{}}}`},
		{redefine: define(t, data, ""), apply: "other", body: `{"spec":{"data":{"key1":"mine"}}}`, object: `{"spec":{"data":{"key1":"mine","key2":"val2"}}}`, want: `
manager-one Apply example.com/v1 @0 {"f:spec":{"f:data":{}}}
other Apply example.com/v1 @1 {"f:spec":{"f:data":{"f:key1":{}}}}`},
		{update: "u", body: `{"metadata":{"uid":"u"},"spec":{"data":{"key1":"mine"}}}`, want: `
manager-one Apply example.com/v1 @0 {"f:spec":{"f:data":{}}}
other Apply example.com/v1 @1 {"f:spec":{"f:data":{"f:key1":{}}}}`},
	}}
	s.run(t)
}

// Neither do they at another version, where what somebody owns is looked at again.
func TestDuplicatesAtAnotherVersionDoNotMatter_SSA18(t *testing.T) {
	both := func(properties string) *crd.Definition { return define(t, properties, properties) }
	s := scenario{kind: both(tags + "," + data), steps: []step{
		{update: "old", body: `{"spec":{"tags":["x","x"]}}`, want: `old Update example.com/v1 @0 {"f:spec":{".":{},"f:tags":{".":{},"v:\"x\"":{}}}}`},
		{apply: "a", version: "v1beta1", body: `{"spec":{"data":{"k":"1"}}}`, object: `{"spec":{"data":{"k":"1"},"tags":["x","x"]}}`, want: `
a Apply example.com/v1beta1 @1 {"f:spec":{"f:data":{"f:k":{}}}}
old Update example.com/v1 @0 {"f:spec":{".":{},"f:tags":{".":{},"v:\"x\"":{}}}}`},
		{redefine: both(tags + "," + atomicData), apply: "b", body: `{"metadata":{"labels":{"l":"1"}}}`, object: `{"metadata":{"labels":{"l":"1"}},"spec":{"data":{"k":"1"},"tags":["x","x"]}}`, want: `
a Apply example.com/v1beta1 @1 {"f:spec":{"f:data":{}}}
b Apply example.com/v1 @2 {"f:metadata":{"f:labels":{"f:l":{}}}}
old Update example.com/v1 @0 {"f:spec":{".":{},"f:tags":{".":{},"v:\"x\"":{}}}}`},
	}}
	s.run(t)
}
