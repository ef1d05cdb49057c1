package trust

import (
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
