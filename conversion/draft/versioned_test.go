package draft

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// What is in an object that is called as a version is the field of that version: as the other
// one, or, where none is called as that, as one of tests. A field whose place has one like it
// in both versions leaves that only for an object that is called as the other version, or to
// make room for what is in one that is called as the new version; v4 and v6 are no versions.
func TestObjectsThatAreCalledAsVersions(t *testing.T) {
	const text = `{"type":"string"}`
	object := func(name, in string) string { return `"` + name + `":{"type":"object","properties":{` + in + `}}` }
	cidr := func(more string) string { return object("spec", object("network", `"cidr":`+text+more)) }
	ready := func(more string) string { return object("status", `"ready":`+text+more) }
	kept := func(in string) string { return object("status", object("deprecated", in)) }
	flag := `"ready":` + text
	const deprecated = "status.ready to status.deprecated."
	for _, c := range []struct{ says, from, a, to, b, want string }{
		{"a protocol beside a field that stays", "v1alpha1", cidr(""), "v1beta1", cidr("," + object("v6", `"cidr":`+text)), ""},
		{"the way back", "v1beta1", cidr("," + object("v6", `"cidr":`+text)), "v1alpha1", cidr(""), ""},
		{"a protocol into which a field goes", "v1alpha1", ready(""), "v1beta1", kept(object("v6", flag)), ""},
		{"the other version", "v1beta1", ready(""), "v1beta2", kept(object("v1beta1", flag)), deprecated + "v1beta1.ready"},
		{"the other version, and a field of none", "v1beta1", ready(""), "v1beta2", kept(object("v1beta1", flag+`,"odd":`+text)), deprecated + "v1beta1.ready"},
		{"a version with no tests", "v1", ready(""), "v2", kept(object("v1", flag)), deprecated + "v1.ready"},
		{"that of another group", "v1alpha3", ready(""), "v1beta2", kept(object("v1beta1", flag)), deprecated + "v1beta1.ready"},
		{"its own", "v1beta1", ready(""), "v1beta2", kept(object("v1beta2", flag)), ""},
		{"the other one, and a field that stays", "v1beta1", ready(""), "v1beta2", ready("," + object("v1beta1", flag)), "status.ready to status.v1beta1.ready"},
		{"that of another group, and one that stays", "v1alpha3", ready(""), "v1beta2", ready("," + object("v1beta1", flag)), ""},
		{"that of another group, and something else", "v1alpha3", ready(""), "v1beta2", object("status", object("ready", flag)+","+object("v1beta1", flag)), "status.ready to status.v1beta1.ready"},
		{"that of another group, and one in its place", "v1alpha1", ready("," + object("v1beta2", flag)), "v1beta2", ready("," + object("v1beta1", flag)), "status.ready to status.v1beta1.ready; status.v1beta2.ready to status.ready"},
		{"that of another group, and none in its place", "v1alpha1", ready("," + object("v1beta3", flag)), "v1beta2", ready("," + object("v1beta1", flag)), ""},
		{"what the old one has for the new one", "v1beta1", object("status", object("v1beta2", flag)), "v1beta2", ready(""), "status.v1beta2.ready to status.ready"},
	} {
		w := &work{from: c.from, to: c.to}
		versioned(w, parsed(t, `{"properties":{`+c.a+`}}`), parsed(t, `{"properties":{`+c.b+`}}`))
		var got []string
		for _, one := range w.twins {
			got = append(got, path(one.a)+" to "+path(one.b))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.says, got, c.want)
		}
	}
}

// A network that gets one more range for another protocol keeps that which it has.
func TestRangesOfProtocolsStay(t *testing.T) {
	const cidr = `"cidr":{"type":"string"}`
	of := func(in string) *schema {
		return parsed(t, `{"properties":{"spec":{"type":"object","properties":{"network":{"type":"object","properties":{`+in+`}}}}}}`)
	}
	d := Between(Version{"v1alpha1", of(cidr)}, Version{"v1beta1", of(cidr + `,"v6":{"type":"object","properties":{` + cidr + `}}`)})
	r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{d.Rules()}})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	const object = `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a"},"spec":{"network":{"cidr":"10.0.0.0/8"}}}`
	got, err := r.Convert(t.Context(), "example.com/v1beta1", [][]byte{[]byte(object)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got[0]), `"spec":{"network":{"cidr":"10.0.0.0/8"}}`) {
		t.Errorf("%s", got[0])
	}
}

// A field that goes where the other version keeps it leaves its place to what is else of its
// name there, which is lost neither way.
func TestPlacesOfFieldsThatAreKeptElsewhere(t *testing.T) {
	const flag = `"ready":{"type":"string"}`
	object := func(name, in string) string { return `"` + name + `":{"type":"object","properties":{` + in + `}}` }
	old := parsed(t, `{"type":"object","properties":{`+object("status", flag)+`}}`)
	next := parsed(t, `{"type":"object","properties":{`+object("status", object("ready", flag)+","+object("v1beta1", flag))+`}}`)
	d := Between(Version{"v1alpha3", old}, Version{"v1beta2", next})
	r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{d.Rules()}})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	const head = `{"apiVersion":"example.com/`
	stored := []byte(head + `v1beta2","kind":"Widget","metadata":{"name":"a"},"status":{"ready":{"ready":"x"},"v1beta1":{"ready":"y"}}}`)
	for _, want := range []struct{ version, status string }{
		{"v1alpha3", `"status":{"ready":"y"}}`}, {"v1beta2", `"status":{"ready":{"ready":"x"},"v1beta1":{"ready":"y"}}}`},
	} {
		got, err := r.Convert(t.Context(), "example.com/"+want.version, [][]byte{stored})
		if err != nil {
			t.Fatal(err)
		}
		if stored = got[0]; !strings.HasSuffix(string(stored), want.status) {
			t.Errorf("%s, want %s", stored, want.status)
		}
	}
}
