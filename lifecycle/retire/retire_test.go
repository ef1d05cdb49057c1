package retire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// defined is a definition with versions, each a name with marks: * for the storage
// version, - for one that is not served, ! for a deprecated one.
func defined(stored string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "crontabs.example.com"
	for _, v := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: strings.Trim(v, "*-!"), Storage: strings.Contains(v, "*"), Served: !strings.Contains(v, "-"), Deprecated: strings.Contains(v, "!"),
		})
	}
	crd.Status.StoredVersions = strings.Fields(stored)
	return crd
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func used(stored map[string]int64) *Usage {
	u := &Usage{Since: start}
	for v, n := range stored {
		u.Stored = append(u.Stored, Stored{v, n})
	}
	return u
}

// told are the steps in short.
func told(p *Plan) string {
	var all []string
	for _, s := range p.Steps {
		text := s.Do + " " + s.Version
		if s.Waits {
			text += "?"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		want  string
	}{
		"one version":                {Facts{Definition: defined("v1", "v1*"), Usage: used(nil)}, ""},
		"a newer one is coming":      {Facts{Definition: defined("v1", "v1*", "v2")}, ""},
		"old, nothing stored":        {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: used(map[string]int64{"v1": 3})}, "unserve v1beta1, remove v1beta1"},
		"old, stored":                {Facts{Definition: defined("v1beta1 v1", "v1beta1", "v1*"), Usage: used(map[string]int64{"v1beta1": 3})}, "migrate v1, unserve v1beta1, remove v1beta1"},
		"unserved, asked for before": {Facts{Definition: defined("v1", "v1beta1-", "v1*"), Usage: &Usage{Since: start, Clients: []Client{{Version: "v1beta1", User: "u", Requests: 2, Last: start}}}}, "remove v1beta1"},
		"served, asked for before":   {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Since: start, Clients: []Client{{Version: "v1beta1", User: "u", Requests: 2, Last: start}}}}, "unserve v1beta1?, remove v1beta1?"},
		"stored, not listed":         {Facts{Definition: defined("v1", "v1beta1-", "v1*"), Usage: used(map[string]int64{"v1beta1": 1})}, "migrate v1, remove v1beta1"},
		"listed alone":               {Facts{Definition: defined("v1beta1 v1", "v1beta1-", "v1*"), Usage: used(nil)}, "migrate v1, remove v1beta1"},
		"deprecated storage":         {Facts{Definition: defined("v1beta1", "v1beta1*!", "v1"), Usage: used(map[string]int64{"v1beta1": 1})}, "store v1, migrate v1, unserve v1beta1, remove v1beta1"},
		"deprecated, and alone":      {Facts{Definition: defined("v1beta1", "v1beta1*!", "v1-"), Usage: used(nil)}, ""},
		"all but an unserved one":    {Facts{Definition: defined("v1", "v1beta1", "v1*-"), Usage: used(nil)}, "unserve v1beta1?, remove v1beta1?"},
		"unserved, to an unserved":   {Facts{Definition: defined("v1", "v1beta1-", "v1*-", "v2"), Usage: used(nil)}, "remove v1beta1"},
		"the storage is the newest":  {Facts{Definition: defined("v1", "v1beta1", "v1*!"), Usage: used(nil)}, "unserve v1beta1, remove v1beta1"},
		"chosen":                     {Facts{Definition: defined("v1", "v1*", "v2"), Usage: used(nil), Versions: []string{"v1"}}, "store v2, migrate v2, unserve v1, remove v1"},
		"the last goes first":        {Facts{Definition: defined("v1", "v1alpha1-", "v1beta1", "v1*"), Usage: used(nil)}, "unserve v1beta1, remove v1beta1, remove v1alpha1"},
		"nothing is known":           {Facts{Definition: defined("v1beta1 v1", "v1beta1", "v1*"), Unknown: "no wasmgate"}, "migrate v1, drop v1beta1?, unserve v1beta1?, remove v1beta1?"},
		"unreadable":                 {Facts{Definition: defined("v1beta1 v1", "v1beta1", "v1*"), Usage: &Usage{Unreadable: 2}}, "migrate v1?, unserve v1beta1?, remove v1beta1?"},
		"owners are not all":         {Facts{Definition: defined("v1", "v1beta1-", "v1*"), Usage: &Usage{MoreOwners: true}}, "remove v1beta1?"},
		"asked for":                  {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Clients: []Client{{Version: "v1beta1"}}}}, "unserve v1beta1?, remove v1beta1?"},
		"another is asked for":       {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Clients: []Client{{Version: "v1"}}}}, "unserve v1beta1, remove v1beta1"},
		"one waits, one may go":      {Facts{Definition: defined("v1", "v1alpha1", "v1beta1", "v1*"), Usage: &Usage{Clients: []Client{{Version: "v1beta1"}}}}, "unserve v1alpha1, unserve v1beta1?, remove v1beta1?, remove v1alpha1"},
		"applied":                    {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Owners: []Owner{{Version: "v1beta1", Operation: "Apply"}}}}, "unserve v1beta1?, remove v1beta1?"},
		"written":                    {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Owners: []Owner{{Version: "v1beta1", Operation: "Update"}}}}, "unserve v1beta1, remove v1beta1"},
		"asked for long ago":         {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: &Usage{Since: start, Clients: []Client{{Version: "v1beta1", Last: start}}}, Since: start.Add(time.Hour)}, "unserve v1beta1, remove v1beta1"},
		"not known for so long":      {Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: used(nil), Since: start.Add(-time.Hour)}, "unserve v1beta1?, remove v1beta1?"},
		"applied, when unknown":      {Facts{Definition: defined("v1", "v1beta1-", "v1*"), Usage: &Usage{Owners: []Owner{{Version: "v1beta1", Operation: "Apply"}}}, Since: start}, "remove v1beta1?"},
		"applied long ago":           {Facts{Definition: defined("v1", "v1beta1-", "v1*"), Usage: &Usage{Owners: []Owner{{Version: "v1beta1", Operation: "Apply", Last: &start}}}, Since: start.Add(1)}, "remove v1beta1"},
	} {
		p, err := Make(c.facts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := told(p); got != c.want {
			t.Errorf("%s: %q, want %q; in the way: %v", name, got, c.want, p.InTheWay)
		}
		for _, v := range p.Versions {
			if (v.CanRemove || v.CanUnserve) && (!v.GivenUp || v.Storage && v.CanRemove) {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

func TestWhatCannotBeGivenUp(t *testing.T) {
	for want, versions := range map[string][]string{
		`crontabs.example.com: it has no version "v7"`:                      {"v7"},
		"crontabs.example.com: no version would be left that is served":     {"v1", "v2"},
		"crontabs.example.com: it has no version \"v1alpha1\"":              {"v1", "v1alpha1"},
		"crontabs.example.com: no version would be left that is served\x00": {"v2", "v1", "v1"},
	} {
		_, err := Make(Facts{Definition: defined("v1", "v1*", "v2"), Versions: versions})
		if err == nil || err.Error() != strings.TrimSuffix(want, "\x00") {
			t.Errorf("%v: %v", versions, err)
		}
	}
	last := Facts{Definition: defined("v1", "v1beta1", "v1*-"), Usage: used(nil), Versions: []string{"v1beta1"}}
	if _, err := Make(last); err == nil || err.Error() != "crontabs.example.com: no version would be left that is served" {
		t.Errorf("the last one that is served: %v", err)
	}
	last.Definition = defined("v1", "v1beta1-", "v1*-")
	if p, err := Make(last); err != nil || told(p) != "remove v1beta1" {
		t.Errorf("where none is served: %v", err)
	}
}

// What can be done at once is said of each version, and it is only said to be free when
// nothing of it is left.
func TestWhatCanBeDoneAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stored          string
		n               int64
		unserve, remove bool
	}{
		"nothing left": {"v1", 0, true, true},
		"listed":       {"v1beta1 v1", 0, true, false},
		"stored":       {"v1", 2, true, false},
	} {
		p, err := Make(Facts{Definition: defined(c.stored, "v1beta1", "v1*"), Usage: used(map[string]int64{"v1beta1": c.n})})
		if err != nil {
			t.Fatal(err)
		}
		if v := p.Versions[0]; v.CanUnserve != c.unserve || v.CanRemove != c.remove || *v.Objects != c.n {
			t.Errorf("%s: %+v", name, v)
		}
		if v := p.Versions[1]; v.GivenUp || v.CanUnserve || v.CanRemove {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Patches name the place of a version and test that it is still there.
func TestPatchesAreGuarded(t *testing.T) {
	p, err := Make(Facts{Definition: defined("v1", "v1beta1", "v1*"), Usage: used(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`[{"op":"test","path":"/spec/versions/0/name","value":"v1beta1"},{"op":"replace","path":"/spec/versions/0/served","value":false}]`,
		`[{"op":"test","path":"/spec/versions/0/name","value":"v1beta1"},{"op":"remove","path":"/spec/versions/0"}]`,
	} {
		if full := fmt.Sprintf("kubectl patch crd crontabs.example.com --type=json -p '%s'", want); p.Steps[i].Command != full {
			t.Errorf("%s, want %s", p.Steps[i].Command, full)
		}
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"inTheWay":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

// What is in the way is told of each version, and of how much.
func TestWhatIsInTheWay(t *testing.T) {
	crd := defined("v1", "v1alpha1", "v1beta1", "v1*")
	for name, c := range map[string]struct {
		facts Facts
		want  []string
	}{
		"nothing is known": {Facts{Definition: crd, Unknown: "no wasmgate"}, []string{
			"v1beta1: how it is used is not known: no wasmgate", "v1alpha1: how it is used is not known: no wasmgate",
		}},
		"numbers": {Facts{Definition: crd, Usage: &Usage{
			Clients: []Client{{Version: "v1beta1", User: "u", Agent: "a", Requests: 1, Last: start}, {Version: "v1beta1", User: "w", Agent: "a", Requests: 2, Last: start}},
			Owners:  []Owner{{Version: "v1alpha1", Manager: "m", Operation: "Apply", Objects: 1}, {Version: "v1alpha1", Manager: "n", Operation: "Apply", Objects: 2}, {Version: "v1alpha1", Manager: "o", Operation: "Update", Objects: 3}},
		}}, []string{
			"v1beta1: u uses it, as a: once, the last at 2026-01-02T03:04:05Z", "v1beta1: w uses it, as a: 2 times, the last at 2026-01-02T03:04:05Z",
			"v1alpha1: m applies at it, and owns fields of 1 object", "v1alpha1: n applies at it, and owns fields of 2 objects",
		}},
		"what is stored is not served": {Facts{Definition: defined("v1", "v1alpha1-", "v1beta1", "v1*-"), Usage: &Usage{
			Clients: []Client{{Version: "v1beta1", User: "u", Agent: "a", Requests: 1, Last: start}}, Owners: []Owner{{Version: "v1alpha1", Manager: "m", Operation: "Apply", Objects: 1}},
		}}, []string{
			"v1beta1: v1, which is stored, is not served (serve it first)", "v1beta1: u uses it, as a: once, the last at 2026-01-02T03:04:05Z (change this client to v1)",
			"v1alpha1: m applies at it, and owns fields of 1 object (let it apply at v1)",
		}},
		"what is stored is not served, and another is": {Facts{Definition: defined("v1", "v1beta1-", "v1*-", "v2"), Usage: &Usage{Owners: []Owner{{Version: "v1beta1", Manager: "m", Operation: "Apply", Objects: 1}}}}, []string{
			"v1beta1: m applies at it, and owns fields of 1 object (let it apply at v2)",
		}},
	} {
		p, err := Make(c.facts)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, o := range p.InTheWay {
			text := o.Version + ": " + o.What
			if strings.HasPrefix(name, "what is stored") {
				text += " (" + o.Do + ")"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
