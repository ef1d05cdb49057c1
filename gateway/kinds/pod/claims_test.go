package pod

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// An allocation is for a node where it names that one and nothing else, whatever else a
// client sends.
func TestNodeOfAnAllocation(t *testing.T) {
	for text, want := range map[string]string{
		`{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}`:                                  "n",
		`{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n","m"]}]}]}}`:                              "",
		`{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n"]}]}]}}`:                               "",
		`{"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a"}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}`: "",
		`{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]},{}]}}`:                               "",
		`{}`: "", `{"nodeSelector":1}`: "", `{"nodeSelector":{"nodeSelectorTerms":[1]}}`: "", `{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[null]}]}}`: "",
	} {
		var tree map[string]any
		if err := json.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		if got := nodeOf(tree); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// Only an account whose token is bound to one node runs there.
func TestWhoRunsOnANode(t *testing.T) {
	const account = "system:serviceaccount:a:b"
	for _, c := range []struct {
		name string
		on   []string
		want bool
	}{{account, []string{"n"}, true}, {account, []string{"m"}, false}, {account, []string{"n", "n"}, false}, {account, nil, false}, {"jane", []string{"n"}, false}} {
		if got := runsOn(&authn.User{Name: c.name, Extra: map[string][]string{authn.NodeNameKey: c.on}}, "n"); got != c.want {
			t.Errorf("%+v", c)
		}
	}
}

// What is said of a device is its driver's to add, to change and to take away.
func TestDriversWhoseReportsChange(t *testing.T) {
	before := map[device]any{{driver: "same"}: "a", {driver: "other"}: "a", {driver: "gone"}: "a"}
	now := map[device]any{{driver: "same"}: "a", {driver: "other"}: "b", {driver: "new", share: "s"}: "a"}
	if got := changedDrivers(before, now); !slices.Equal(got, []string{"gone", "new", "other"}) {
		t.Errorf("%v", got)
	}
	if got := devices(map[string]any{"devices": []any{1, nil, map[string]any{"driver": "d"}}}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
