package managedfields_test

import "testing"

const (
	replicas = `"replicas":{"type":"integer"},"name":{"type":"string"}`
	sizes    = `"size":{"type":"integer"},"name":{"type":"string"}`
)

func TestEntriesSayWhoOwnsWhat_SSA05(t *testing.T) {
	s := scenario{kind: builtIn(t, "ConfigMap"), steps: []step{
		{
			apply: "kubectl", body: `{"metadata":{"name":"test-cm","namespace":"default","labels":{"test-label":"test"}},"data":{"key":"some value"}}`,
			want:   `kubectl Apply v1 @0 {"f:data":{"f:key":{}},"f:metadata":{"f:labels":{"f:test-label":{}}}}`,
			object: `{"data":{"key":"some value"},"metadata":{"labels":{"test-label":"test"},"name":"test-cm","namespace":"default"}}`,
		},
		{ // the second sample: an update takes a value over
			update: "kube-controller-manager", body: `{"metadata":{"name":"test-cm","namespace":"default","labels":{"test-label":"test"},"uid":"u"},"data":{"key":"new value"}}`,
			want: `
kubectl Apply v1 @0 {"f:metadata":{"f:labels":{"f:test-label":{}}}}
kube-controller-manager Update v1 @1 {"f:data":{"f:key":{}}}`,
		},
	}}
	s.run(t)
}

func TestUpdatesMoveOwnership_SSA07(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1,"name":"x"}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{update: "b", body: `{"metadata":{"uid":"u"},"spec":{"replicas":2,"name":"x"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}
b Update example.com/v1 @1 {"f:spec":{"f:replicas":{}}}`},
		{update: "b", body: `{"metadata":{"uid":"u"},"spec":{"replicas":3,"name":"x"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}
b Update example.com/v1 @2 {"f:spec":{"f:replicas":{}}}`},
		{update: "c", body: `{"metadata":{"uid":"u","resourceVersion":"9","generation":4},"spec":{"replicas":3,"name":"x"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}
b Update example.com/v1 @2 {"f:spec":{"f:replicas":{}}}`},
		{update: "b", body: `{"metadata":{"uid":"u","resourceVersion":"9","generation":4},"spec":{"name":"x"}}`,
			want: `a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}`},
	}}
	s.run(t)
}

func TestConflictsNameFieldsAndOwners_SSA08(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1,"name":"x"}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":2}}`,
			refused: `Apply failed with 1 conflict: conflict with "a": .spec.replicas`,
			causes:  `.spec.replicas: conflict with "a"`},
		{update: "u", body: `{"metadata":{"uid":"u","labels":{"l":"1"}},"spec":{"replicas":1,"name":"x"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}
u Update example.com/v1 @2 {"f:metadata":{"f:labels":{".":{},"f:l":{}}}}`},
		{apply: "b", body: `{"metadata":{"labels":{"l":"2"}},"spec":{"replicas":2,"name":"y"}}`,
			refused: "Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.name\n- .spec.replicas\nconflicts with \"u\" using example.com/v1:\n- .metadata.labels.l",
			causes:  ".spec.name: conflict with \"a\"\n.spec.replicas: conflict with \"a\"\n.metadata.labels.l: conflict with \"u\" using example.com/v1"},
		{update: "s", sub: "status", body: `{"metadata":{"uid":"u","labels":{"l":"1"}},"spec":{"replicas":1,"name":"x"},"status":{"phase":"A"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}
u Update example.com/v1 @2 {"f:metadata":{"f:labels":{".":{},"f:l":{}}}}
s Update example.com/v1 status @4 {"f:status":{".":{},"f:phase":{}}}`},
		{apply: "b", sub: "status", body: `{"status":{"phase":"B"}}`,
			refused: `Apply failed with 1 conflict: conflict with "s" with subresource "status" using example.com/v1: .status.phase`,
			causes:  `.status.phase: conflict with "s" with subresource "status" using example.com/v1`},
	}}
	s.run(t)
}

func TestEqualValuesAreShared_SSA09(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":1}}`, want: `
b Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}`},
		{apply: "a", body: `{"spec":{"replicas":2}}`,
			refused: `Apply failed with 1 conflict: conflict with "b": .spec.replicas`, causes: `.spec.replicas: conflict with "b"`},
		{apply: "b", body: `{"spec":{"replicas":3}}`,
			refused: `Apply failed with 1 conflict: conflict with "a": .spec.replicas`, causes: `.spec.replicas: conflict with "a"`},
	}}
	s.run(t)
}

func TestForceTakesOver_SSA10(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1,"name":"x"}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{update: "u", body: `{"metadata":{"uid":"u"},"spec":{"replicas":1,"name":"y"}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}
u Update example.com/v1 @1 {"f:spec":{"f:name":{}}}`},
		{apply: "b", force: true, body: `{"spec":{"replicas":2,"name":"z"}}`,
			want:   `b Apply example.com/v1 @2 {"f:spec":{"f:name":{},"f:replicas":{}}}`,
			object: `{"spec":{"name":"z","replicas":2}}`},
	}}
	s.run(t)
}

func TestWhatOthersOwnStaysWhenItIsLeftOut_SSA11(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1,"name":"x"}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":1}}`, want: `
b Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
a Apply example.com/v1 @0 {"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "a", body: `{"spec":{"name":"x"}}`, object: `{"spec":{"name":"x","replicas":1}}`, want: `
b Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}`},
	}}
	s.run(t)
}

func TestWhatNobodyOwnsIsRemovedWhenItIsLeftOut_SSA12(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"metadata":{"labels":{"l":"1","m":"1"}},"spec":{"replicas":1,"name":"x"}}`,
			want: `a Apply example.com/v1 @0 {"f:metadata":{"f:labels":{"f:l":{},"f:m":{}}},"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "a", body: `{"metadata":{"labels":{"m":"1"}},"spec":{"name":"x"}}`,
			want:   `a Apply example.com/v1 @1 {"f:metadata":{"f:labels":{"f:m":{}}},"f:spec":{"f:name":{}}}`,
			object: `{"metadata":{"labels":{"m":"1"}},"spec":{"name":"x"}}`},
		{apply: "a", body: `{}`, want: ``, object: `{}`},
	}}
	s.run(t)
}

func TestHandOver_SSA24(t *testing.T) {
	full := `{"metadata":{"labels":{"app":"nginx"}},"spec":{"replicas":3,"name":"nginx"}}`
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "kubectl", body: full,
			want: `kubectl Apply example.com/v1 @0 {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "handover-to-hpa", body: `{"spec":{"replicas":3}}`, want: `
handover-to-hpa Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
kubectl Apply example.com/v1 @0 {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:name":{},"f:replicas":{}}}`},
		{apply: "kubectl", body: `{"metadata":{"labels":{"app":"nginx"}},"spec":{"name":"nginx"}}`, object: full2, want: `
handover-to-hpa Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
kubectl Apply example.com/v1 @0 {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:name":{}}}`},
		{update: "hpa", body: `{"metadata":{"uid":"u","labels":{"app":"nginx"}},"spec":{"replicas":5,"name":"nginx"}}`, want: `
kubectl Apply example.com/v1 @0 {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:name":{}}}
hpa Update example.com/v1 @3 {"f:spec":{"f:replicas":{}}}`},
	}}
	s.run(t)
}

const full2 = `{"metadata":{"labels":{"app":"nginx"}},"spec":{"name":"nginx","replicas":3}}`

func TestManagersHandOverToEachOther_SSA25(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1}}`, want: `a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":1}}`, want: `
b Apply example.com/v1 {"f:spec":{"f:replicas":{}}}
a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}`},
		{apply: "a", body: `{}`, object: `{"spec":{"replicas":1}}`, want: `b Apply example.com/v1 {"f:spec":{"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":2}}`, object: `{"spec":{"replicas":2}}`, want: `b Apply example.com/v1 @3 {"f:spec":{"f:replicas":{}}}`},
	}}
	s.run(t)
}

func TestManagersMayChangeVersions_SSA26(t *testing.T) {
	two := define(t, replicas, sizes)
	s := scenario{kind: two, steps: []step{
		{apply: "a", version: "v1beta1", body: `{"spec":{"size":1,"name":"x"}}`,
			want: `a Apply example.com/v1beta1 @0 {"f:spec":{"f:name":{},"f:size":{}}}`},
		{apply: "b", body: `{"spec":{"replicas":2}}`, // what a owns at another version
			refused: `Apply failed with 1 conflict: conflict with "a": .spec.size`, causes: `.spec.size: conflict with "a"`},
		{update: "u", body: `{"metadata":{"uid":"u"},"spec":{"replicas":3,"name":"x"}}`, want: `
a Apply example.com/v1beta1 @0 {"f:spec":{"f:name":{}}}
u Update example.com/v1 @2 {"f:spec":{"f:replicas":{}}}`},
		{apply: "a", version: "v1", body: `{"spec":{"name":"x"}}`, object: `{"spec":{"name":"x","replicas":3}}`, want: `
a Apply example.com/v1 @0 {"f:spec":{"f:name":{}}}
u Update example.com/v1 @2 {"f:spec":{"f:replicas":{}}}`},
		{apply: "a", version: "v1beta1", body: `{"spec":{}}`, object: `{"spec":{"size":3}}`, want: `
a Apply example.com/v1beta1 @4 {"f:spec":{}}
u Update example.com/v1 @2 {"f:spec":{"f:replicas":{}}}`},
		{ // a version that is gone: its entries are dropped
			redefine: define(t, replicas, ""), update: "u", body: `{"metadata":{"uid":"u"},"spec":{"replicas":4}}`,
			want: `u Update example.com/v1 @5 {"f:spec":{"f:replicas":{}}}`},
	}}
	s.run(t)

	// The same names at another version are other fields.
	s = scenario{kind: two, steps: []step{
		{apply: "a", version: "v1beta1", body: `{"spec":{"size":1,"name":"x"}}`,
			want: `a Apply example.com/v1beta1 @0 {"f:spec":{"f:name":{},"f:size":{}}}`},
		{apply: "a", body: `{"spec":{"name":"x"}}`, object: `{"spec":{"name":"x"}}`,
			want: `a Apply example.com/v1 @1 {"f:spec":{"f:name":{}}}`},
	}}
	s.run(t)
}
