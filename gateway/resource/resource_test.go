package resource

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

var things = schema.GroupResource{Group: "example.com", Resource: "things"}

// target is a thing that is asked for by one of its versions.
func target() Target {
	def := &crd.Definition{Group: "example.com", Kind: "Thing", Plural: "things", Versions: []*crd.Version{{Name: "v1"}}}
	return Target{Resource: &catalog.Resource{Renderer: &view.Renderer{Converter: view.Converter{Stored: view.Stored{Def: def}}}}, Version: def.Versions[0], Name: "one"}
}

func TestParseRevision(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "0": 0, "7": 7, "9223372036854775807": 1<<63 - 1} {
		if got, err := ParseRevision(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-1", "9223372036854775808"} {
		want := `invalid resource version: resourceVersion: Invalid value: "` + text + `": strconv.ParseUint: parsing "` + text + `": `
		if _, err := ParseRevision(text); !apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Every failure of the store is one that clients know.
func TestWhatClientsAreToldOfTheStore(t *testing.T) {
	own := errors.New("own")
	if err := target().StoreError(own); err != own {
		t.Errorf("what is not the store's became %v", err)
	}
	for kind, want := range map[storage.Kind]struct {
		reason metav1.StatusReason
		text   string
	}{
		storage.NotFound:       {metav1.StatusReasonNotFound, `things.example.com "one" not found`},
		storage.Exists:         {metav1.StatusReasonAlreadyExists, `things.example.com "one" already exists`},
		storage.Conflict:       {metav1.StatusReasonConflict, `Operation cannot be fulfilled on things.example.com "one": the object has been modified; please apply your changes to the latest version and try again`},
		storage.TooLarge:       {metav1.StatusReasonRequestEntityTooLarge, `the object is too large to be stored: `},
		storage.Full:           {metav1.StatusReasonInternalError, `the store is full: etcdserver: mvcc: database space exceeded`},
		storage.Compacted:      {metav1.StatusReasonExpired, `The resourceVersion for the provided list is too old.`},
		storage.FutureRevision: {metav1.StatusReasonTimeout, `the store has not reached the resource version yet`},
		storage.Unavailable:    {metav1.StatusReasonServerTimeout, `The store operation against things.example.com could not be completed at this time, please try again.`},
	} {
		err := target().StoreError(&storage.Error{Kind: kind})
		if apierrors.ReasonForError(err) != want.reason || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%v: %v, want %s", kind, err, want.text)
		}
	}
}

// What is no object of the kind is refused with what it begins with.
func TestUnrecognized(t *testing.T) {
	for body, shown := range map[string]string{
		"":                                  "<empty>",
		"ab":                                "6162",
		`{"kind":"X"}`:                      `{"kind":"X"}`,
		"{" + strings.Repeat("x", 29):       "{" + strings.Repeat("x", 29),
		"{" + strings.Repeat("x", 30):       "{" + strings.Repeat("x", 29) + " ...",
		strings.Repeat("a", 30):             strings.Repeat("61", 30),
		strings.Repeat("a", 31):             strings.Repeat("61", 30) + " ...",
		" {":                                "207b",
		"{\"metadata\":{\"name\":\"a\"}}\n": "{\"metadata\":{\"name\":\"a\"}}\n",
	} {
		err := target().Unrecognized(errors.New("why"), []byte(body))
		if want := "the object provided is unrecognized (must be of type Thing): why (" + shown + ")"; !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
	for apiVersion, version := range map[string]string{"v2": "v2", "example.com/v2": "v2"} {
		err := target().OfOtherKind("Other", apiVersion)
		if want := `Other in version "` + version + `" cannot be handled as a Thing: no kind "Other" is registered for version "` + apiVersion + `"`; !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A deletion that means another object, or another state of it, is refused; the uid first.
func TestMismatch(t *testing.T) {
	uid, otherUID, version, otherVersion := types.UID("u"), types.UID("v"), "7", "8"
	const conflict = `Operation cannot be fulfilled on things.example.com "one": `
	for name, c := range map[string]struct {
		meant *metav1.Preconditions
		want  string
	}{
		"none":            {nil, ""},
		"nothing":         {&metav1.Preconditions{}, ""},
		"this":            {&metav1.Preconditions{UID: &uid, ResourceVersion: &version}, ""},
		"another":         {&metav1.Preconditions{UID: &otherUID, ResourceVersion: &otherVersion}, conflict + "the UID in the precondition (v) does not match the UID in record (u). The object might have been deleted and then recreated"},
		"another state":   {&metav1.Preconditions{UID: &uid, ResourceVersion: &otherVersion}, conflict + "the ResourceVersion in the precondition (8) does not match the ResourceVersion in record (7). The object might have been modified"},
		"only a revision": {&metav1.Preconditions{ResourceVersion: &otherVersion}, conflict + "the ResourceVersion in the precondition (8) does not match the ResourceVersion in record (7). The object might have been modified"},
	} {
		err := Mismatch(things, "one", c.meant, uid, version)
		if (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || !apierrors.IsConflict(err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTargetsAndLists(t *testing.T) {
	at := target()
	if got := at.GVK(); got != (schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}) {
		t.Error(got)
	}
	if at.GroupResource() != things {
		t.Error(at.GroupResource())
	}
	if at.Version = nil; at.GroupResource() != things {
		t.Errorf("without a version it is %v", at.GroupResource())
	}
	n := int64(3)
	whole := List{Revision: 7, Continue: "c", Remaining: &n, Shards: &metav1.ShardInfo{Selector: "s"}}
	if got, want := whole.Meta(), (metav1.ListMeta{ResourceVersion: "7", Continue: "c", RemainingItemCount: &n, ShardInfo: &metav1.ShardInfo{Selector: "s"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (&List{}).Meta(); !reflect.DeepEqual(got, metav1.ListMeta{}) {
		t.Errorf("a list of no revision says %+v", got)
	}
}

// turns are those that are taken, or refused.
type turns struct {
	refused error
	log     []string
}

func (x *turns) Take(_ context.Context, user string) error {
	x.log = append(x.log, "take "+user)
	return x.refused
}

func (x *turns) Give() { x.log = append(x.log, "give") }

// Work is done in a turn, which is given back; without one it is not done.
func TestInTurn(t *testing.T) {
	own := errors.New("own")
	for name, c := range map[string]struct {
		as      Caller
		refused error
		want    []string
	}{
		"a user":  {Caller{User: &authn.User{Name: "ann"}}, nil, []string{"take ann", "work", "give"}},
		"nobody":  {Caller{}, nil, []string{"take ", "work", "give"}},
		"no turn": {Caller{}, context.DeadlineExceeded, []string{"take "}},
	} {
		x := &turns{refused: c.refused}
		err := InTurn(t.Context(), x, c.as, func() error {
			x.log = append(x.log, "work")
			return own
		})
		if !slices.Equal(x.log, c.want) {
			t.Errorf("%s: %q", name, x.log)
		}
		if late := apierrors.IsTimeout(err) && err.Error() == "Timeout: request did not complete within the allotted timeout"; late != (c.refused != nil) || !late && err != own {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := InTurn(t.Context(), nil, Caller{}, func() error { return own }); err != own {
		t.Errorf("where there are no turns: %v", err)
	}
}

// Problems with fields are warnings, or one refusal, or nothing; only so many are named.
func TestReport(t *testing.T) {
	many := slices.Repeat([]string{"p"}, MaxProblems+1)
	for name, c := range map[string]struct {
		validation string
		problems   []string
		warned     int
		refused    string
	}{
		"none":    {"Strict", nil, 0, ""},
		"ignored": {"Ignore", []string{"a"}, 0, ""},
		"warned":  {"", []string{"a", "b"}, 2, ""},
		"many":    {"Warn", many, MaxProblems, ""},
		"refused": {"Strict", []string{"a", "b"}, 0, "strict decoding error: a, b"},
		"all":     {"Strict", many, 0, "strict decoding error: p" + strings.Repeat(", p", MaxProblems-1)},
	} {
		warned := 0
		err := WriteOptions{FieldValidation: c.validation, Warn: func(string) { warned++ }}.Report(c.problems)
		if warned != c.warned || (err == nil) != (c.refused == "") || err != nil && err.Error() != c.refused {
			t.Errorf("%s: warned %d times, %v", name, warned, err)
		}
	}
	if err := (WriteOptions{}).Report([]string{"a"}); err != nil { // nobody wants to know
		t.Error(err)
	}
}

// A write is repeated as long as its definition is replaced, but not for ever.
func TestAgain(t *testing.T) {
	tries := 0
	n, err := Again(func() (int, error) {
		if tries++; tries < 3 {
			return 0, catalog.ErrReplaced
		}
		return tries, nil
	})
	if n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	tries = 0
	_, err = Again(func() (int, error) { tries++; return 0, catalog.ErrReplaced })
	if tries != maxRedefined || !apierrors.IsInternalError(err) {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// Who audits is told what has a key of two parts.
func TestAddAnnotation(t *testing.T) {
	var told []string
	o := WriteOptions{Annotate: func(key, value string) { told = append(told, key+"="+value) }}
	for _, key := range []string{"example.com/a", "a", "example.com/a/b", "Example/a", "/a", "example.com/", "a.b/c"} {
		o.AddAnnotation(key, "v")
	}
	if !slices.Equal(told, []string{"example.com/a=v", "a.b/c=v"}) {
		t.Errorf("told %q", told)
	}
	WriteOptions{}.AddAnnotation("example.com/a", "v") // nobody is
}
