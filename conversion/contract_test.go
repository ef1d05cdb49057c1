package conversion_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
)

// change is one thing that a converter may do to an object, and whether the
// contract allows it.
type change struct {
	what    string
	do      func(o, meta map[string]any)
	allowed bool
}

var changes = []change{
	{"nothing", func(o, meta map[string]any) {}, true},
	{"a new field", func(o, _ map[string]any) { o["spec"] = map[string]any{"a": []any{1.0, nil, "x"}} }, true},
	{"no fields", func(o, _ map[string]any) { delete(o, "x") }, true},
	{"labels", func(_, meta map[string]any) { meta["labels"] = map[string]any{"a/b": "c", "d": ""} }, true},
	{"a label more", func(_, meta map[string]any) {
		if l, ok := meta["labels"].(map[string]any); ok {
			l["more"] = "1"
		}
	}, true},
	{"no labels", func(_, meta map[string]any) { delete(meta, "labels") }, true},
	{"null labels", func(_, meta map[string]any) { meta["labels"] = nil }, true},
	{"empty labels", func(_, meta map[string]any) { meta["labels"] = map[string]any{} }, true},
	{"annotations", func(_, meta map[string]any) { meta["annotations"] = map[string]any{"k": "é\"\n"} }, true},
	{"null annotations", func(_, meta map[string]any) { meta["annotations"] = nil }, true},
	{"other finalizers", func(_, meta map[string]any) { meta["finalizers"] = []any{"mine"} }, true},
	{"no finalizers", func(_, meta map[string]any) { delete(meta, "finalizers") }, true},
	{"another time", func(_, meta map[string]any) { meta["creationTimestamp"] = "2001-01-01T00:00:00Z" }, true},
	{"an unknown field of metadata", func(_, meta map[string]any) { meta["aaa"], meta["zzz"] = 1.0, map[string]any{} }, true},
	{"another name", func(_, meta map[string]any) { meta["name"] = "b" }, false},
	{"no name", func(_, meta map[string]any) { delete(meta, "name") }, false},
	{"a name that is no string", func(_, meta map[string]any) { meta["name"] = 1.0 }, false},
	{"another namespace", func(_, meta map[string]any) { meta["namespace"] = "other" }, false},
	{"another uid", func(_, meta map[string]any) { meta["uid"] = "other" }, false},
	{"a null uid", func(_, meta map[string]any) { meta["uid"] = nil }, false},
	{"another kind", func(o, _ map[string]any) { o["kind"] = "Other" }, false},
	{"no kind", func(o, _ map[string]any) { delete(o, "kind") }, false},
	{"the old version", func(o, _ map[string]any) { o["apiVersion"] = "example.com/v1beta1" }, false},
	{"another group", func(o, _ map[string]any) { o["apiVersion"] = "example.org/v1" }, false},
	{"no version", func(o, _ map[string]any) { delete(o, "apiVersion") }, false},
	{"no metadata", func(o, _ map[string]any) { delete(o, "metadata") }, false},
	{"null metadata", func(o, _ map[string]any) { o["metadata"] = nil }, false},
	{"a list for metadata", func(o, _ map[string]any) { o["metadata"] = []any{} }, false},
	{"a label that is no string", func(_, meta map[string]any) { meta["labels"] = map[string]any{"new": 1.0} }, false},
	{"a label that is none", func(_, meta map[string]any) { meta["labels"] = map[string]any{"a b": "c"} }, false},
	{"a list of labels", func(_, meta map[string]any) { meta["labels"] = []any{"a"} }, false},
	{"an annotation that is none", func(_, meta map[string]any) { meta["annotations"] = map[string]any{"a b": "c"} }, false},
	{"a string for annotations", func(_, meta map[string]any) { meta["annotations"] = "a" }, false},
}

func randomObject(r *rand.Rand) map[string]any {
	meta := map[string]any{"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-11-21T08:38:56Z"}
	if r.IntN(2) == 0 {
		meta["labels"] = map[string]any{"app": "x"}
	}
	if r.IntN(2) == 0 {
		meta["annotations"] = map[string]any{"note": "é"}
	}
	if r.IntN(2) == 0 {
		meta["finalizers"] = []any{"f"}
	}
	if r.IntN(2) == 0 {
		meta["managedFields"] = []any{map[string]any{"manager": "m"}}
	}
	return map[string]any{"apiVersion": "example.com/v1beta1", "kind": "Conv", "metadata": meta, "x": 1.0}
}

func encoded(t *testing.T, r *rand.Rand, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if r.IntN(3) == 0 {
		b, err = json.MarshalIndent(v, " ", "\t")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t *testing.T, data []byte) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return m
}

// Whatever a converter does in one batch, the contract holds: what is accepted
// has the original's metadata, but for labels and annotations, and everything
// else of the reply; what breaks the contract is an error that names its
// object, and then nothing is accepted.
func TestTheContractOfAnyReply_CRD16_CRD17(t *testing.T) {
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 1 + r.IntN(3)
		var sent, replied [][]byte
		var want []map[string]any
		broken, words := -1, ""
		for i := range n {
			original := randomObject(r)
			sent = append(sent, encoded(t, r, original))
			reply := decoded(t, sent[i])
			reply["apiVersion"] = "example.com/v1"
			meta := reply["metadata"].(map[string]any)
			for range 1 + r.IntN(2) {
				c := changes[r.IntN(len(changes))]
				words += fmt.Sprintf("object %d: %s; ", i, c.what)
				c.do(reply, meta)
				if !c.allowed && broken < 0 {
					broken = i
				}
			}
			replied = append(replied, encoded(t, r, reply))
			want = append(want, restored(original, reply))
		}
		out, err := checked(t, convertFunc(func(string, [][]byte) ([][]byte, error) { return replied, nil })).
			Convert(t.Context(), "example.com/v1", sent)
		// A later change may put right what an earlier one broke, so what is
		// accepted is held to the contract itself, too.
		if err != nil {
			var typed *conversion.Error
			if broken < 0 || out != nil || !errors.As(err, &typed) || len(typed.Objects) != 1 || typed.Objects[0] != "n/a" {
				t.Fatalf("seed %d: %s: %v", seed, words, err)
			}
			continue
		}
		for i := range out {
			if got := decoded(t, out[i]); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("seed %d: %s\ngot  %v\nwant %v", seed, words, got, want[i])
			}
			got := decoded(t, out[i])
			meta, _ := got["metadata"].(map[string]any)
			if got["apiVersion"] != "example.com/v1" || got["kind"] != "Conv" || meta["name"] != "a" || meta["namespace"] != "n" || meta["uid"] != "u" {
				t.Fatalf("seed %d: %s: accepted %s", seed, words, out[i])
			}
		}
	}
}

// restored is what the contract makes of a reply.
func restored(original, reply map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range reply {
		out[k] = v
	}
	from, _ := reply["metadata"].(map[string]any)
	meta := map[string]any{}
	for k, v := range original["metadata"].(map[string]any) {
		meta[k] = v
	}
	for _, k := range []string{"labels", "annotations"} {
		delete(meta, k)
		if v := from[k]; v != nil {
			meta[k] = v
		}
	}
	out["metadata"] = meta
	return out
}

// Each of the changes alone, so that none is hidden by another.
func TestEachChangeAlone_CRD16_CRD17(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range changes {
		original := randomObject(r)
		sent := encoded(t, r, original)
		reply := decoded(t, sent)
		reply["apiVersion"] = "example.com/v1"
		c.do(reply, reply["metadata"].(map[string]any))
		replied := encoded(t, r, reply)
		_, err := checked(t, convertFunc(func(string, [][]byte) ([][]byte, error) { return [][]byte{replied}, nil })).
			Convert(t.Context(), "example.com/v1", [][]byte{sent})
		if (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// What an object was not asked to become is refused before the converter sees
// it, and what is there already is not sent.
func TestWhatIsSent_CRD12(t *testing.T) {
	const there = `{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"name":"b"}}`
	var calls [][][]byte
	c := conversion.Checked(convertFunc(func(desired string, objects [][]byte) ([][]byte, error) {
		calls = append(calls, objects)
		return reply()(desired, objects)
	}))
	out, err := c.Convert(t.Context(), "example.com/v1", [][]byte{[]byte(there), []byte(original), []byte(there)})
	if err != nil || len(calls) != 1 || len(calls[0]) != 1 || string(calls[0][0]) != original {
		t.Fatalf("%v: sent %q", err, calls)
	}
	if len(out) != 3 || string(out[0]) != there || string(out[2]) != there || decoded(t, out[1])["apiVersion"] != "example.com/v1" {
		t.Errorf("got %s", out)
	}
	if out, err := c.Convert(t.Context(), "example.com/v1", [][]byte{[]byte(there)}); err != nil || len(out) != 1 || len(calls) != 1 {
		t.Errorf("nothing to do: %s, %v", out, err)
	}
	for in, want := range map[string]string{
		`nonsense`:                               "cannot convert object at index 1 to example.com/v1: invalid JSON",
		`[]`:                                     "cannot convert object at index 1 to example.com/v1: json: cannot unmarshal array into Go value of type map[string]interface {}",
		`7`:                                      "cannot convert object at index 1 to example.com/v1: json: cannot unmarshal number into Go value of type map[string]interface {}",
		`true`:                                   "cannot convert object at index 1 to example.com/v1: json: cannot unmarshal bool into Go value of type map[string]interface {}",
		`{} x`:                                   "cannot convert object at index 1 to example.com/v1: invalid character 'x' after top-level value",
		`{`:                                      "cannot convert object at index 1 to example.com/v1: unexpected end of JSON input",
		`{"kind":"a","kind":"b"}`:                `cannot convert object at index 1 to example.com/v1: duplicate field "kind"`,
		`{"metadata":{"uid":"a","uid":"b"}}`:     `cannot convert object at index 1 to example.com/v1: duplicate field "metadata.uid"`,
		`{"metadata":{"name":"a","name":"b"}}`:   `cannot convert object at index 1 to example.com/v1: duplicate field "metadata.name"`,
		`{"metadata":{"labels":{},"labels":{}}}`: `cannot convert object at index 1 to example.com/v1: duplicate field "metadata.labels"`,
		`{"metadata":{"annotations":{},"annotations":{}}}`: `cannot convert object at index 1 to example.com/v1: duplicate field "metadata.annotations"`,
		`{"metadata":{"namespace":"a","namespace":"b"}}`:   `cannot convert object at index 1 to example.com/v1: duplicate field "metadata.namespace"`,
		`{"metadata":{},"metadata":{}}`:                    `cannot convert object at index 1 to example.com/v1: duplicate field "metadata"`,
		`{"apiVersion":"a","apiVersion":"b"}`:              `cannot convert object at index 1 to example.com/v1: duplicate field "apiVersion"`,
		`{"metadata":{"name":`:                             "cannot convert object at index 1 to example.com/v1: invalid JSON",
	} {
		_, err := c.Convert(t.Context(), "example.com/v1", [][]byte{[]byte(there), []byte(in)})
		var typed *conversion.Error
		if !errors.As(err, &typed) || typed.To != "example.com/v1" || err.Error() != want || len(calls) != 1 {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestReplyOfTheLargestSize_CRD16(t *testing.T) {
	of := func(size int) error {
		_, err := conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) {
			text := []byte(`{"apiVersion":"example.com/v1","kind":"Conv","metadata":{"name":"a","namespace":"default","uid":"2fd0"},"x":"`)
			for len(text) < size-2 {
				text = append(text, 'x')
			}
			return [][]byte{append(text, `"}`...)}, nil
		})).Convert(t.Context(), "example.com/v1", [][]byte{[]byte(original)})
		return err
	}
	if err := of(conversion.MaxObjectBytes); err != nil {
		t.Error(err)
	}
	want := "conversion webhook for example.com/v1beta1, Kind=Conv returned invalid object: it has 8388609 bytes, more than 8388608"
	if err := of(conversion.MaxObjectBytes + 1); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestErrorsNameAtMostTenObjects_CRD16(t *testing.T) {
	for _, n := range []int{9, 10, 11, 25} {
		_, err := conversion.Checked(convertFunc(func(string, [][]byte) ([][]byte, error) { return nil, errors.New("no") })).
			Convert(t.Context(), "example.com/v1", func() (out [][]byte) {
				for i := range n {
					out = append(out, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Conv","metadata":{"name":"o%d"}}`, i))
				}
				return out
			}())
		var typed *conversion.Error
		if !errors.As(err, &typed) || len(typed.Objects) != min(n, 10) || typed.Objects[0] != "o0" {
			t.Errorf("%d: %v", n, typed)
		}
		if err.Error() != "conversion webhook for /v1, Kind=Conv failed: no" || errors.Unwrap(err).Error() != "no" {
			t.Errorf("%v", err)
		}
	}
}

func TestNoneRefusesWhatIsNoObject_CRD10(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:           "object at index 1: json: cannot unmarshal array into Go value of type map[string]interface {}",
		`{"kind":"A"}`: "object at index 1 has no apiVersion",
	} {
		out, err := conversion.None{}.Convert(t.Context(), "g/v2", [][]byte{[]byte(original), []byte(in)})
		if out != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %s, %v", in, out, err)
		}
	}
}
