package custom

import (
	"testing"

	"github.com/wasmgate/wasmgate/crd/custom/accept"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	goodOwner   = `{"apiVersion":"v1","kind":"A","name":"b","uid":"c"`
	goodManager = `{"manager":"m","operation":"Update","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{".":{}}}`
)

// metadataProbes are values for fields of metadata, and whether they are
// well-formed already: then the library is not asked.
var metadataProbes = []struct {
	field, value string
	tidy         bool
}{
	{"name", `"a"`, true}, {"name", `""`, true}, {"name", `null`, true}, {"name", `1`, false}, {"name", `{}`, false},
	{"generateName", `"a"`, true}, {"namespace", `"a"`, true}, {"selfLink", `"a"`, true}, {"uid", `"a"`, true}, {"resourceVersion", `"7"`, true}, {"resourceVersion", `7`, false},
	{"generation", `1`, true}, {"generation", `0`, true}, {"generation", `null`, true}, {"generation", `1.5`, false}, {"generation", `"1"`, false},
	{"deletionGracePeriodSeconds", `0`, true}, {"deletionGracePeriodSeconds", `30`, true}, {"deletionGracePeriodSeconds", `"a"`, false},
	{"creationTimestamp", `"2020-01-01T00:00:00Z"`, true}, {"creationTimestamp", `null`, true}, {"creationTimestamp", `"2020-01-01T01:00:00+01:00"`, false},
	{"creationTimestamp", `"2020-01-01T00:00:00.0Z"`, false}, {"creationTimestamp", `"2020-13-01T00:00:00Z"`, false}, {"creationTimestamp", `"0001-01-01T00:00:00Z"`, false},
	{"creationTimestamp", `"2020-01-01T00:00:00z"`, false}, {"creationTimestamp", `1`, false}, {"deletionTimestamp", `"2020-01-01T00:00:00Z"`, true}, {"deletionTimestamp", `"x"`, false},
	{"labels", `{}`, true}, {"labels", `{"a":"b"}`, true}, {"labels", `{"a":1}`, false}, {"labels", `{"a":null}`, false}, {"labels", `[]`, false}, {"labels", `null`, true},
	{"annotations", `{"a":"b"}`, true}, {"annotations", `{"a":{}}`, false},
	{"finalizers", `[]`, true}, {"finalizers", `["a"]`, true}, {"finalizers", `["a",1]`, false}, {"finalizers", `{}`, false}, {"finalizers", `"a"`, false},
	{"ownerReferences", `[]`, true}, {"ownerReferences", `[` + goodOwner + `}]`, true}, {"ownerReferences", `[` + goodOwner + `,"controller":true,"blockOwnerDeletion":false}]`, true},
	{"ownerReferences", `[` + goodOwner + `,"controller":"yes"}]`, false}, {"ownerReferences", `[` + goodOwner + `,"x":1}]`, false}, {"ownerReferences", `[` + goodOwner + `},1]`, false},
	{"ownerReferences", `[{"apiVersion":"v1","kind":"A","name":"b"}]`, false}, {"ownerReferences", `[{"apiVersion":"v1","kind":"A","name":"b","uid":1}]`, false}, {"ownerReferences", `[null]`, false},
	{"managedFields", `[]`, false}, {"managedFields", `null`, true}, {"managedFields", `[` + goodManager + `}]`, false}, {"managedFields", `[` + goodManager + `,"subresource":""}]`, false},
	{"managedFields", `[` + goodManager + `},null]`, false}, {"managedFields", `[{"manager":1}]`, false}, {"managedFields", `{}`, false},
	{"unknown", `1`, false}, {"unknown", `null`, false}, {"", `""`, false},
}

// Raw managedFields are nobody's business here, whatever else happens to the
// object.
func TestRawManagedFieldsStay_SSA05(t *testing.T) {
	const managed = `[` + goodManager + `}]`
	all := subjects(t)
	for _, rest := range []string{``, `,"labels":{}`, `,"labels":{"a":1}`, `,"unknown":1`, `,"creationTimestamp":"2020-01-01T01:00:00+01:00"`} {
		for _, s := range all {
			tree, _, err := object.ParseObject([]byte(`{"apiVersion":"example.com/v1","kind":"X","metadata":{"name":"n","managedFields":` + managed + rest + `},"spec":{"x":null,"unknown":1}}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.shape.FromStorage(tree); err != nil {
				t.Fatal(err)
			}
			if got, err := object.TakeManaged(tree); err != nil || string(got) != managed {
				t.Errorf("with %s they are %s (%v)", rest, got, err)
			}
		}
	}
}

func TestMetadataIsMadeWhatTheLibraryMakesIt_CRD05(t *testing.T) {
	all := subjects(t)
	for _, p := range metadataProbes {
		in := `{"` + p.field + `":` + p.value
		if p.field != "name" {
			in += `,"name":"n"`
		}
		in += `}`
		if got := accept.TidyMetadata(parse(t, in)); got != p.tidy {
			t.Errorf("%s is well-formed: %t", in, got)
		}
		tree := parse(t, `{"apiVersion":"example.com/v1","kind":"X","metadata":`+in+`}`)
		for _, s := range all {
			s.agree(t, tree)
		}
	}
	tree := parse(t, `{"name":"","labels":{},"finalizers":[],"generation":0,"annotations":null,"uid":"u","deletionGracePeriodSeconds":0}`)
	if !accept.TidyMetadata(tree) || text(tree) != `{"deletionGracePeriodSeconds":0,"uid":"u"}` {
		t.Errorf("what is empty is not dropped: %s", text(tree))
	}
}
