package identity

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options"
)

const authentication = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"

// Who shows nothing is let in where the flag and the file say so: everywhere without
// conditions, and nowhere if either says no.
func TestWhereWhoShowsNothingIsLetIn(t *testing.T) {
	for name, c := range map[string]struct {
		file   string // "" for none
		change func(o *options.Serve)
		health bool
		all    bool
		err    error
	}{
		"by default":               {"", nil, true, true, nil},
		"not by the flag":          {"", func(o *options.Serve) { o.AnonymousAuth = false }, false, false, nil},
		"a file that says nothing": {authentication, nil, true, true, nil},
		"one that says no":         {authentication + "anonymous: {enabled: false}\n", nil, false, false, nil},
		"one that says yes":        {authentication + "anonymous: {enabled: true}\n", nil, true, true, nil},
		"one that says where":      {authentication + "anonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}]}\n", nil, true, false, nil},
		"also by the flag":         {authentication + "anonymous: {enabled: true}\n", func(o *options.Serve) { o.Authentication.AnonymousAuthSet = true }, false, false, errAnonymous},
		"where all is allowed":     {authentication + "anonymous: {enabled: true}\n", func(o *options.Serve) { o.AuthorizationModes = []string{options.AlwaysAllow} }, false, false, nil},
		"the flag alone":           {authentication, func(o *options.Serve) { o.Authentication.AnonymousAuthSet = true }, true, true, nil},
	} {
		o := serve(t)
		if c.file != "" {
			o.Authentication.ConfigFile = file(t, c.file)
		}
		if c.change != nil {
			c.change(&o)
		}
		i, err := New(t.Context(), o, "gateway", unchanged)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		in := i.Anonymous()
		if health, all := in != nil && in("/livez"), in != nil && in("/api"); health != c.health || all != c.all {
			t.Errorf("%s: let in at /livez: %v, and elsewhere: %v", name, health, all)
		}
		if (i.Others() == nil) != (c.file == "") {
			t.Errorf("%s: others are believed: %v", name, i.Others() != nil)
		}
		i.Close()
	}
}

// What others would be asked by, and cannot be used, keeps the gateway from starting.
func TestOthersWhoCannotBeAsked(t *testing.T) {
	for want, change := range map[string]func(o *options.Serve){
		"--oidc-ca-file: open none": func(o *options.Serve) {
			o.Authentication.OIDC = options.OIDC{IssuerURL: "https://issuer", ClientID: "c", UsernameClaim: "sub", CAFile: "none"}
		},
		"--authentication-config": func(o *options.Serve) { o.Authentication.ConfigFile = "none" },
	} {
		o := serve(t)
		change(&o)
		if i, err := New(t.Context(), o, "gateway", unchanged); err == nil || i != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Of the flags for one issuer a file is made, as kube-apiserver makes it.
func TestFlagsOfAnIssuerAreAFile(t *testing.T) {
	for name, c := range map[string]struct{ claim, prefix, want string }{
		"the issuer's name":   {"sub", "", "https://issuer#"},
		"none of addresses":   {"email", "", ""},
		"none where it is -":  {"sub", "-", ""},
		"what is asked for":   {"email", "x:", "x:"},
		"also of other names": {"sub", "x:", "x:"},
	} {
		got, err := configuration(options.OIDC{IssuerURL: "https://issuer", ClientID: "me", UsernameClaim: c.claim, UsernamePrefix: c.prefix, GroupsClaim: "g", GroupsPrefix: "p:",
			CAFile: file(t, "pem"), RequiredClaims: map[string]string{"a": "b"}})
		if err != nil || len(got.JWT) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		j := got.JWT[0]
		if u := j.ClaimMappings.Username; *u.Prefix != c.want || u.Claim != c.claim {
			t.Errorf("%s: %q of %s", name, *u.Prefix, u.Claim)
		}
		if g := j.ClaimMappings.Groups; *g.Prefix != "p:" || g.Claim != "g" || j.Issuer.URL != "https://issuer" || j.Issuer.Audiences[0] != "me" || j.Issuer.CertificateAuthority != "pem" ||
			len(j.ClaimValidationRules) != 1 || j.ClaimValidationRules[0].Claim != "a" || j.ClaimValidationRules[0].RequiredValue != "b" {
			t.Errorf("%s: %+v", name, j)
		}
	}
	got, err := configuration(options.OIDC{IssuerURL: "https://issuer"})
	if err != nil || got.JWT[0].ClaimMappings.Groups.Claim != "" || got.JWT[0].Issuer.CertificateAuthority != "" {
		t.Errorf("%+v, %v", got, err)
	}
}
