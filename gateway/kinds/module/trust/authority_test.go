package trust

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

// An authority is a key or an identity, of which all is set that it takes to verify what is
// signed, and in one way.
func TestAuthoritiesThatCannotBeReadAreRefused(t *testing.T) {
	s := keylesstest.New(t)
	_, public := keys(t)
	type tree = keylesstest.Tree
	who := func(more tree) tree {
		out := tree{"issuer": "https://a.example", "subject": "b@example.com", "certificates": s.Certificates(), "logs": s.Logs()}
		for k, v := range more {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
		return out
	}
	for _, c := range []struct {
		more tree
		want string
	}{
		{tree{"keyless": who(nil)}, ""},
		{tree{"keyless": who(nil), "images": true, "provenance": tree{"builders": []any{"*"}, "predicateType": "https://a.example/p"}}, ""},
		{tree{"keyless": who(tree{"issuer": nil, "issuerPattern": "a|b", "subject": nil, "subjectPattern": ".*@example\\.com"})}, ""},
		{tree{"keyless": who(tree{"certificates": nil, "logs": nil, "trustedRoot": s.TrustedRoot()})}, ""},
		{tree{"key": public, "provenance": tree{"builders": []any{"https://a.example/*"}}}, ""},
		{tree{"key": public, "statements": []any{tree{"predicateType": "https://spdx.dev/Document"}, tree{"predicateType": "x", "condition": "self.n == 0"}}}, ""},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x", "condition": "true" + strings.Repeat(" ", maxCondition-4)}}}, ""},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x", "condition": "true" + strings.Repeat(" ", maxCondition-3)}}}, "spec.authorities[0].statements[0].condition: Too long"},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x"}, tree{"condition": "true"}}}, "spec.authorities[0].statements[1].predicateType: Required"},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x", "condition": "self."}}}, "spec.authorities[0].statements[0].condition: Invalid value: expression"},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x", "condition": "predicate.n == 0"}}}, "undeclared reference to 'predicate'"},
		{tree{"key": public, "statements": []any{tree{"predicateType": "x", "condition": "unlike(self, [])"}}}, "undeclared reference to 'unlike'"}, // as it is not counted
		{tree{"key": public, "statements": slices.Repeat([]any{tree{"predicateType": "x"}}, 5)}, "spec.authorities[0].statements: Too many"},
		{tree{}, "exactly one of key and keyless"},
		{tree{"key": public, "keyless": who(nil)}, "exactly one of key and keyless"},
		{tree{"keyless": who(tree{"issuer": nil})}, "spec.authorities[0].keyless"},
		{tree{"keyless": who(tree{"subjectPattern": "a"})}, "spec.authorities[0].keyless"},
		{tree{"keyless": who(tree{"subject": nil, "subjectPattern": "("})}, "spec.authorities[0].keyless: Invalid value: the subject: error parsing regexp"},
		{tree{"keyless": who(tree{"trustedRoot": s.TrustedRoot()})}, "either trustedRoot or certificates and logs"},
		{tree{"keyless": who(tree{"certificates": nil, "logs": nil})}, "either trustedRoot or certificates and logs"},
		{tree{"keyless": who(tree{"logs": nil})}, "spec.authorities[0].keyless"},
		{tree{"keyless": who(tree{"certificates": nil, "logs": nil, "trustedRoot": "{}"})}, "spec.authorities[0].keyless.trustedRoot: Invalid value"},
		{tree{"keyless": who(tree{"logs": s.Certificates()})}, "spec.authorities[0].keyless: Invalid value: logs: it has a \"CERTIFICATE\""},
		{tree{"key": public, "provenance": tree{"builders": []any{}}}, "spec.authorities[0].provenance.builders"},
	} {
		a := tree{"name": "a"}
		for k, v := range c.more {
			a[k] = v
		}
		wantRefused(t, s.JSON(tree{"authorities": []any{a}}), c.want)
	}
}

// A condition is about the predicate, and bounded; what is not true is not good, and what
// cannot be evaluated is told in few words.
func TestConditionsOfStatements(t *testing.T) {
	for _, c := range []struct {
		condition, predicate string
		good                 bool
		wrong                string
	}{
		{"self.n == 0", `{"n":0}`, true, ""},
		{"self.n == 0", `{"n":0.0}`, true, ""},
		{"self.n == 0", `{"n":1}`, false, ""},
		{"self.n == 0", `{}`, false, "no such key: n"},
		{"has(self.n)", `{}`, false, ""},
		{"self == null", ``, true, ""},
		{"self.all(x, x.severity != 'HIGH')", `[{"severity":"LOW"},{"severity":"HIGH"}]`, false, ""},
		{"self.n", `{"n":1}`, false, "gives no bool"},
		{"true", `{`, false, "the predicate cannot be read"},
		{"self[self.x]", `{"x":"` + strings.Repeat("y", 9999) + `"}`, false, "no such key: yyy"},
	} {
		all, errs := readStatements([]statement{{"x", c.condition}}, nil)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		good, err := all[0].Holds([]byte(c.predicate))
		if good != c.good || (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || len(err.Error()) > maxTold+100) {
			t.Errorf("%s of %.40s: %v, %v", c.condition, c.predicate, good, err)
		}
	}
}
