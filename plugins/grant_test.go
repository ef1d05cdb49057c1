package plugins

import (
	"strings"
	"testing"
)

func TestGranted(t *testing.T) {
	grants := []Grant{
		{Resource: "configmaps", Namespace: "shop", Names: []string{"rules", "prices"}},
		{Group: "example.com", Resource: "things", Namespace: "*", Names: []string{"one"}},
		{Resource: "namespaces", Names: []string{"*"}},
	}
	for text, want := range map[string]bool{
		"/configmaps/shop/rules": true, "/configmaps/shop/prices": true, "/configmaps/shop/other": false, "/configmaps/other/rules": false,
		"/secrets/shop/rules": false, "example.com/configmaps/shop/rules": false, "/configmaps//rules": false,
		"example.com/things/a/one": true, "example.com/things/b/one": true, "example.com/things//one": false, "example.com/things/a/two": false,
		"/namespaces//a": true, "/namespaces/shop/a": false,
	} {
		o, err := ParseObject(text)
		if err != nil || o.String() != text || Granted(grants, o) != want || Granted(nil, o) {
			t.Errorf("%s: %v, %v, %v", text, o, Granted(grants, o), err)
		}
	}
	for _, text := range []string{"", "/", "/configmaps/shop", "/configmaps/shop/a/b", "//shop/a", "/configmaps/shop/", "/configmaps/shop/" + strings.Repeat("x", MaxObjectName)} {
		if o, err := ParseObject(text); err == nil {
			t.Errorf("%q is %v", text, o)
		}
	}
}
