package patch

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	library "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Copies that double an object each time are stopped.
func TestJSONPatchCopies(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `[{"op":"add","path":"/a","value":{"v":%q}}`, strings.Repeat("x", 1000))
	for i := range 60 {
		fmt.Fprintf(&b, `,{"op":"copy","from":"/a","path":"/a/k%d"}`, i)
	}
	b.WriteString("]")
	apply, _, err := decodeJSON([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = apply(State{JSON: []byte(`{}`)})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
}

func TestAPanicOfThePatchLibraryIsARefusal_UPD05(t *testing.T) {
	apply, _, err := decodeJSON([]byte(`[{"op":"test","path":"/l","value":[null]}]`))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = apply(State{JSON: []byte(`{"l":[null]}`)})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
}

func TestMergeOfDeepNesting(t *testing.T) {
	const depth = 9000
	deep := strings.Repeat(`{"a":`, depth) + `null` + strings.Repeat(`}`, depth)
	change, _, err := object.Parse([]byte(deep))
	if err != nil {
		t.Fatal(err)
	}
	out := merged(map[string]any{"a": "x"}, change)
	for range depth - 1 {
		out = out["a"].(map[string]any)
	}
	if len(out) != 0 {
		t.Errorf("the null was kept: %v", out)
	}
}

// kube-apiserver's library is the measure: nulls in lists go too, unless the
// list takes the place of an object.
func TestMergeSaysTheSameAsTheLibrary_UPD06(t *testing.T) {
	values := []string{`null`, `1`, `[]`, `{}`, `{"x":null}`, `{"x":{"y":null,"z":1}}`, `[null,{"x":null,"y":[{"z":null}]},[null,{"x":null}]]`, `{"l":[{"x":null}]}`, `{"l":{"x":1}}`}
	for _, old := range values {
		for _, patch := range values {
			was, body := []byte(`{"f":`+old+`,"o":{"f":`+old+`}}`), []byte(`{"f":`+patch+`,"o":{"f":`+patch+`},"new":`+patch+`}`)
			want, err := library.MergePatch(was, body)
			if err != nil {
				t.Fatal(err)
			}
			tree, _, err := object.Parse(was)
			if err != nil {
				t.Fatal(err)
			}
			changes, _, err := object.Parse(body)
			if err != nil {
				t.Fatal(err)
			}
			expected, _, err := object.Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			if got := merged(tree, changes); !reflect.DeepEqual(got, expected) {
				t.Errorf("%s of %s is\n%v, the library's\n%v", body, was, got, expected)
			}
		}
	}
}

// The patch is applied again after a conflict: it must come out as it went in.
func TestPatchesAreNotChanged(t *testing.T) {
	change, _, err := object.Parse([]byte(`{"l":[{"a":{"b":1}}],"m":{"x":null,"y":{"z":[]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(change)
	out := merged(map[string]any{}, change)
	out["l"].([]any)[0].(map[string]any)["a"] = "changed"
	out["m"].(map[string]any)["y"].(map[string]any)["z"] = "changed"
	if fmt.Sprint(change) != before {
		t.Errorf("got %v", change)
	}
}

// What is odd about the operations of a JSON patch is named by its place, and of what is no
// patch nothing is said here.
func TestOddOperationsAreNamed_FV07(t *testing.T) {
	for body, want := range map[string][]string{
		`[]`: nil,
		`[{"op":"move","from":"/a","path":"/b"},{"op":"test","path":"/a","value":{"x":1}}]`:    nil,
		`[{"op":"add","path":"/a","value":1,"odd":2,"Also":3}]`:                                {`json patch unknown field "[0].Also"`, `json patch unknown field "[0].odd"`},
		`[{"op":"remove","path":"/a"},{"op":"add","path":"/a","path":"/b","value":1}]`:         {`json patch duplicate field "[1].path"`},
		`[{"op":"remove","path":"/a","odd":1},{"op":"add","path":"/a","path":"/b","value":1}]`: {`json patch unknown field "[0].odd"`, `json patch duplicate field "[1].path"`},
		`[{"op":"remove","path":"/a"`: nil,
		`{"op":"remove"}`:             nil,
	} {
		if got, err := oddOperations([]byte(body)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, want %q", body, got, err, want)
		}
	}
}

// What is told of no operation, as of no patch at all, comes last.
func TestOddFieldsOfNoOperation(t *testing.T) {
	if odd, _ := oddOperations([]byte(`[{"odd":1}],"patch[-1]":1,"patch[-1]":2,"patch[7]":1,"patch[7]":2`)); len(odd) != 3 || odd[0] != `json patch unknown field "[0].odd"` {
		t.Errorf("%q", odd)
	}
}
