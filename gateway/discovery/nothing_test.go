package discovery

import (
	"encoding/json"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// A group of which no version is served is none, and others cannot serve the group
// without a name.
func TestGroupsOfNothing(t *testing.T) {
	hidden := compile(t, func(c *apiextensionsv1.CustomResourceDefinition) {
		c.Spec.Group = "hidden.example.com"
		for i := range c.Spec.Versions {
			c.Spec.Versions[i].Served = false
		}
	})
	opts := options(t)
	opts.Others = []Other{
		{GroupVersion: schema.GroupVersion{Version: "v1"}, Discovery: apidiscoveryv2.APIVersionDiscovery{Version: "v1", Resources: []apidiscoveryv2.APIResourceDiscovery{{Resource: "theirs"}}}},
		{GroupVersion: schema.GroupVersion{Group: "other.example.com", Version: "v1"}, Discovery: apidiscoveryv2.APIVersionDiscovery{Version: "v1"}},
	}
	docs := New([]*crd.Definition{hidden}, opts)
	for path, want := range map[string]string{"/api": "", "/apis": "other.example.com"} {
		body, _, _, ok := docs.Lookup(path, aggregatedAccept)
		var list apidiscoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil || !ok {
			t.Fatalf("%s: %s, %v", path, body, err)
		}
		var names []string
		for _, g := range list.Items {
			names = append(names, g.Name)
		}
		if got := strings.Join(names, " "); got != want || list.Items == nil {
			t.Errorf("%s has the groups %q", path, got)
		}
	}
	if _, _, _, ok := docs.Lookup("/apis/hidden.example.com", ""); ok {
		t.Error("a group that serves nothing is there")
	}
}
