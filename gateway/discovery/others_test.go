package discovery

import (
	"encoding/json"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What other servers serve is among the groups, in the order of priorities, and in the
// place of what is served here at the same version.
func TestOthersAreAmongTheGroups(t *testing.T) {
	other := func(group, version string, first, second int32, freshness apidiscoveryv2.DiscoveryFreshness) Other {
		return Other{
			GroupVersion: schema.GroupVersion{Group: group, Version: version}, Priority: Priority{first, second},
			Discovery: apidiscoveryv2.APIVersionDiscovery{Version: version, Freshness: freshness, Resources: []apidiscoveryv2.APIResourceDiscovery{{Resource: "theirs"}}},
		}
	}
	opts := options(t)
	opts.Others = []Other{
		other("disc.example.com", "v1", 100, 5, "Current"), other("first.example.com", "v1beta1", 19000, 9, "Stale"),
		other("first.example.com", "v1", 19000, 15, "Current"), other("last.example.com", "v1", 5, 1, "Current"),
	}
	docs := New(definitions(t), opts)
	body, _, _, _ := docs.Lookup("/apis", "")
	var plain metav1.APIGroupList
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range plain.Groups {
		for _, v := range g.Versions {
			got = append(got, v.GroupVersion)
		}
	}
	const want = "first.example.com/v1 first.example.com/v1beta1 events.k8s.io/v1 coordination.k8s.io/v1 disc.example.com/v1beta1 disc.example.com/v1 last.example.com/v1"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	body, _, _, _ = docs.Lookup("/apis", aggregatedAccept)
	var whole apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatal(err)
	}
	for _, g := range whole.Items {
		for _, v := range g.Versions {
			theirs := len(v.Resources) == 1 && v.Resources[0].Resource == "theirs"
			switch g.Name + "/" + v.Version {
			case "disc.example.com/v1", "first.example.com/v1", "first.example.com/v1beta1", "last.example.com/v1":
				if !theirs || (v.Freshness == "Stale") != (v.Version == "v1beta1") {
					t.Errorf("%s: %+v", g.Name, v)
				}
			default:
				if theirs {
					t.Errorf("%s: %+v", g.Name, v)
				}
			}
		}
	}
	if body, _, _, ok := docs.Lookup("/apis/first.example.com", ""); !ok || !strings.Contains(string(body), `"preferredVersion":{"groupVersion":"first.example.com/v1"`) {
		t.Errorf("%s", body)
	}
}
