package managedfields_test

import (
	"fmt"
	"strings"
	"testing"
)

const ofA = `a Apply example.com/v1 @0 {"f:spec":{"f:replicas":{}}}`

func TestClientsMayDropAllEntries_SSA27(t *testing.T) {
	for name, test := range map[string]struct{ sent, want string }{
		"one empty entry":              {`[{}]`, ""},
		"an entry of empty fields":     {`[{"manager":"","fieldsV1":null}]`, ""},
		"an empty list":                {`[]`, ofA},
		"null":                         {`null`, ofA},
		"two empty entries":            {`[{},{}]`, ofA},
		"an entry that is not empty":   {`[{"manager":"a"}]`, ofA},
		"an entry with fields only":    {`[{"fieldsV1":{}}]`, ofA},
		"an entry with a version only": {`[{"apiVersion":"v1"}]`, ofA},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario{kind: define(t, replicas, ""), steps: []step{
				{apply: "a", body: `{"spec":{"replicas":1}}`, want: ofA},
				{update: "u", managed: test.sent, body: `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`, want: test.want},
			}}
			s.run(t)
		})
	}
	s := scenario{kind: builtIn(t, "ConfigMap"), steps: []step{
		{apply: "a", body: `{"metadata":{"name":"x"},"data":{"k":"1"}}`, want: `a Apply v1 @0 {"f:data":{"f:k":{}}}`},
		{update: "u", managed: `[]`, body: `{"metadata":{"name":"x","uid":"u"},"data":{"k":"1"}}`, want: ``},
	}}
	s.run(t)
}

// Nothing is tracked any more after a reset, until somebody applies.
func TestAResetComesBeforeOtherChanges_SSA28(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"spec":{"replicas":1}}`, want: ofA},
		{update: "u", managed: `[{}]`, body: `{"metadata":{"uid":"u"},"spec":{"replicas":2,"name":"x"}}`, want: ``},
		{update: "u", body: `{"metadata":{"uid":"u"},"spec":{"replicas":3,"name":"x"}}`, want: ``},
		{apply: "b", body: `{"spec":{"name":"x"}}`, want: `
b Apply example.com/v1 {"f:spec":{"f:name":{}}}
before-first-apply Update example.com/v1 @3 {"f:spec":{".":{},"f:name":{},"f:replicas":{}}}`},
		{apply: "b", body: `{"spec":{"name":"y"}}`,
			refused: `Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.name`,
			causes:  `.spec.name: conflict with "before-first-apply" using example.com/v1`},
	}}
	s.run(t)
}

func TestClientsMayEditEntries_SSA29(t *testing.T) {
	edited := `[{"manager":"z","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T01:00:07+01:00","fieldsType":"FieldsV1",
		"fieldsV1":{"f:spec":{"f:replicas":{},"x:unknown":{"f:a":{}},"f:gone":{".":{}},"f:list":{"i:3":{},"k:{\"n\":1}":{"f:q":{}}}}},"unknown":[1]}]`
	kept := `z Update example.com/v1 @7 {"f:spec":{"f:gone":{},"f:list":{"k:{\"n\":1}":{"f:q":{}},"i:3":{}},"f:replicas":{}}}`
	for name, test := range map[string]struct{ sub, sent, want string }{
		"well-formed":          {"", edited, kept},
		"through a part":       {"status", edited, ofA},
		"of no operation":      {"", strings.Replace(edited, `"Update"`, `"Other"`, 1), ofA},
		"of no version":        {"", strings.Replace(edited, `"example.com/v1"`, `""`, 1), ofA},
		"of an unknown form":   {"", strings.Replace(edited, `"FieldsV1"`, `"FieldsV2"`, 1), ofA},
		"at no time":           {"", strings.Replace(edited, `+01:00`, `Z+`, 1), ofA},
		"with a list":          {"", strings.Replace(edited, `{".":{}}`, `[]`, 1), ofA},
		"with a bad key":       {"", strings.Replace(edited, `"f:gone"`, `"f"`, 1), ofA},
		"with no colon":        {"", strings.Replace(edited, `"f:gone"`, `"fx"`, 1), ofA},
		"with a bad index":     {"", strings.Replace(edited, `i:3`, `i:x`, 1), ofA},
		"with a bad value":     {"", strings.Replace(edited, `i:3`, `v:{`, 1), ofA},
		"with more in a value": {"", strings.Replace(edited, `i:3`, `v:1 1`, 1), ofA},
		"with a bad item":      {"", strings.Replace(edited, `k:{\"n\":1}`, `k:[]`, 1), ofA},
		"of another type":      {"", strings.Replace(edited, `"z"`, `7`, 1), ofA},
		"not a list":           {"", `{"manager":"z"}`, ofA},
		"no JSON":              {"", `[{`, ofA},
		"a list of texts":      {"", `["x"]`, ofA},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario{kind: define(t, replicas, ""), steps: []step{
				{apply: "a", body: `{"spec":{"replicas":1}}`, want: ofA},
				{update: "u", sub: test.sub, managed: test.sent, body: `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`, want: test.want},
			}}
			s.run(t)
		})
	}
}

func TestOldEntriesOfUpdatesAreMerged_SSA05(t *testing.T) {
	s := scenario{kind: define(t, data, "")}
	body := []string{}
	lines := []string{}
	for i := range 13 {
		body = append(body, fmt.Sprintf("%q:%q", fmt.Sprint("k", i), "v"))
		own := fmt.Sprintf(`{"f:spec":{"f:data":{"f:k%d":{}}}}`, i)
		if i == 0 {
			own = `{"f:spec":{".":{},"f:data":{".":{},"f:k0":{}}}}`
		}
		lines = append(lines, fmt.Sprintf("m%d Update example.com/v1 @%d %s", i, i, own))
		switch i {
		case 10: // the two oldest are merged, as old as the younger of them
			lines = append([]string{`ancient-changes Update example.com/v1 @1 {"f:spec":{".":{},"f:data":{".":{},"f:k0":{},"f:k1":{}}}}`}, lines[2:]...)
		case 11:
			lines = append([]string{`ancient-changes Update example.com/v1 @2 {"f:spec":{".":{},"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}}}`}, lines[2:]...)
		case 12:
			lines = append([]string{`ancient-changes Update example.com/v1 @3 {"f:spec":{".":{},"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{},"f:k3":{}}}}`}, lines[2:]...)
		}
		s.steps = append(s.steps, step{
			update: fmt.Sprint("m", i), body: `{"metadata":{"uid":"u"},"spec":{"data":{` + strings.Join(body, ",") + `}}}`,
			want: strings.Join(lines, "\n"),
		})
	}
	s.run(t)
}

func TestAppliesAreChecked_SSA14(t *testing.T) {
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{apply: "a", body: `{"metadata":{"managedFields":[]}}`, refused: `metadata.managedFields must be nil`},
		{apply: "a", body: `{"metadata":{"managedFields":null},"spec":{"replicas":1}}`, want: `a Apply example.com/v1 @1 {"f:metadata":{"f:managedFields":{}},"f:spec":{"f:replicas":{}}}`},
	}}
	s.steps[1].want = `a Apply example.com/v1 @1 {"f:spec":{"f:replicas":{}}}`
	s.run(t)
}

const lastApplied = `"kubectl.kubernetes.io/last-applied-configuration"`

func TestKubectlTakesOverFromClientSideApply_SSA31(t *testing.T) {
	config := `{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"spec\":{\"name\":\"x\",\"replicas\":1}}`
	live := `{"metadata":{"uid":"u","annotations":{` + lastApplied + `:"` + config + `"}},"spec":{"replicas":%d,"name":"x"}}`
	csa := `kubectl-client-side-apply Update example.com/v1 @0 {"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{".":{},"f:name":{},"f:replicas":{}}}`
	scaled := `kubectl-client-side-apply Update example.com/v1 @0 {"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{".":{},"f:name":{}}}` +
		"\n" + `kubectl Update example.com/v1 scale @1 {"f:spec":{"f:replicas":{}}}`
	s := scenario{kind: define(t, replicas, ""), steps: []step{
		{update: "kubectl-client-side-apply", body: fmt.Sprintf(live, 1), want: csa},
		{update: "kubectl", sub: "scale", body: fmt.Sprintf(live, 5), want: scaled},
		{apply: "gitops", body: `{"spec":{"name":"y"}}`,
			refused: `Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com/v1: .spec.name`,
			causes:  `.spec.name: conflict with "kubectl-client-side-apply" using example.com/v1`},
		{apply: "kubectl", body: `{"spec":{"name":"y","replicas":1}}`,
			refused: `Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using example.com/v1: .spec.replicas`,
			causes:  `.spec.replicas: conflict with "kubectl" with subresource "scale" using example.com/v1`},
		{apply: "kubectl", body: `{"spec":{"name":"y"}}`,
			object: `{"metadata":{"annotations":{` + lastApplied + `:"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"spec\":{\"name\":\"y\"}}\n"}},"spec":{"name":"y","replicas":5}}`,
			want: `kubectl Apply example.com/v1 @4 {"f:spec":{"f:name":{}}}` + "\n" +
				strings.Replace(scaled, `{".":{},"f:name":{}}`, `{}`, 1)},
		{ // what is applied never says what was applied
			apply:  "kubectl",
			body:   `{"metadata":{"annotations":{` + lastApplied + `:"mine","z":"1"}},"spec":{"name":"y"}}`,
			force:  true,
			object: `{"metadata":{"annotations":{` + lastApplied + `:"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{\"annotations\":{\"z\":\"1\"}},\"spec\":{\"name\":\"y\"}}\n","z":"1"}},"spec":{"name":"y","replicas":5}}`,
			want: `kubectl Apply example.com/v1 @5 {"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{},"f:z":{}}},"f:spec":{"f:name":{}}}
kubectl-client-side-apply Update example.com/v1 @0 {"f:metadata":{"f:annotations":{}},"f:spec":{}}
kubectl Update example.com/v1 scale @1 {"f:spec":{"f:replicas":{}}}`,
		},
	}}
	s.run(t)
}
