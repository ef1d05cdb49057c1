package gotype

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestTexts holds what is taken without a library to what the library writes.
func TestTexts(t *testing.T) {
	taken := map[string]int{}
	digits := []string{"", "0", "1", "9", "10", "99", "100", "512", "1000", "1024", "1536", "1000000", "123456789", "1234567890", "01", "1.5", "-1", "+1", " 1"}
	for _, n := range digits {
		for _, suffix := range []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "K", "e3", "E3", " "} {
			s := n + suffix
			q, err := resource.ParseQuantity(s)
			rounded := q.DeepCopy()
			rounded.RoundUp(resource.Milli)
			if isQuantity(s) {
				taken["quantities"]++
				if err != nil || q.String() != s || rounded.String() != s {
					t.Errorf("%q is written as %q", s, q.String())
				}
			}
		}
	}
	for n := range 4 * 256 {
		bytes := []byte{byte(n), byte(n >> 2), 7}[:1+n%3]
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			s := enc.EncodeToString(bytes)
			if got, want := isBase64(s), s == base64.StdEncoding.EncodeToString(bytes); got != want {
				t.Errorf("isBase64(%q) = %v", s, got)
			}
		}
	}
	for _, s := range []string{"", "=", "==", "====", "A===", "YR==", "YWJ=", "Y\nQ=", "YQ==YQ=="} {
		if isBase64(s) {
			t.Errorf("%q is taken for bytes", s)
		}
	}
	for _, s := range []string{"2020-01-02T03:04:05Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "2020-01-02T03:04:05+00:00", "2020-01-02T03:04:05.5Z", "2020-01-02t03:04:05Z", "2020-01-02T24:00:00Z", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "12020-01-02T03:04:05Z", "", "Z"} {
		var at metav1.Time
		if err := at.UnmarshalJSON([]byte(fmt.Sprintf("%q", s))); isTime(s, time.RFC3339) {
			taken["times"]++
			if err != nil || at.UTC().Format(time.RFC3339) != s {
				t.Errorf("%q is written as %v: %v", s, at, err)
			}
		}
	}
	if taken["quantities"] < 60 || taken["times"] != 3 {
		t.Errorf("too little is taken: %v", taken)
	}
}

// sample has of each what a Go type can have.
type sample struct {
	metav1.TypeMeta `json:",inline"`
	Text            string                 `json:"text,omitempty" protobuf:"1"`
	Written         string                 `json:"written" protobuf:"2"`
	Number          int32                  `json:"number" protobuf:"3"`
	Long            *int64                 `json:"long,omitempty" protobuf:"4"`
	Flag            bool                   `json:"flag" protobuf:"5"`
	Bytes           []byte                 `json:"bytes,omitempty" protobuf:"6"`
	Texts           []string               `json:"texts" protobuf:"7"`
	Map             map[string]string      `json:"map,omitempty" protobuf:"8"`
	Amounts         corev1.ResourceList    `json:"amounts,omitempty" protobuf:"9"`
	Amount          resource.Quantity      `json:"amount,omitempty" protobuf:"10"`
	Port            intstr.IntOrString     `json:"port,omitempty" protobuf:"11"`
	At              metav1.Time            `json:"at,omitempty" protobuf:"12"`
	Gone            *metav1.MicroTime      `json:"gone,omitempty" protobuf:"13"`
	Inner           inner                  `json:"inner,omitempty" protobuf:"14"`
	Others          []inner                `json:"others,omitempty" protobuf:"15"`
	Raw             runtime.RawExtension   `json:"raw,omitempty,omitzero" protobuf:"16"`
	Raws            []runtime.RawExtension `json:"raws,omitempty" protobuf:"17"`
	Off             bool                   `json:"off,omitempty" protobuf:"18"`
	Must            map[string]string      `json:"must" protobuf:"20"`
	Few             int64                  `json:"few,omitempty" protobuf:"19"`
	JSONOnly        string                 `json:"jsonOnly,omitempty"`
	Ignored         string                 `json:"-"`
}

type inner struct {
	A *inner `json:"a,omitempty" protobuf:"1"`
	B string `json:"b" protobuf:"2"`
}

type tree = map[string]any

// base is what is written of a sample of which nothing was said, with something more.
func base(with tree) tree {
	out := tree{"written": "", "number": int64(0), "flag": false, "texts": nil, "must": nil, "amount": "0", "port": int64(0), "at": nil, "inner": tree{"b": ""}}
	maps.Copy(out, with)
	return out
}

// samples are trees of a sample.
var samples = []struct {
	name  string
	sent  tree
	whole tree // nil: it is left to the Go type
	kept  bool
}{
	{"nothing", tree{}, base(nil), true},
	{"what says nothing goes", tree{"text": "", "map": tree{}, "others": []any{}, "long": nil, "gone": nil, "map2": nil}, nil, false},
	{"empty", tree{"text": "", "map": tree{}, "others": []any{}, "long": nil, "gone": nil, "raw": nil, "texts": nil, "off": false, "few": int64(0)}, base(nil), true},
	{"whole", base(nil), base(nil), true},
	{"empty map that is written", tree{"must": tree{}}, nil, false},
	{"no number at all", tree{"few": 1.5}, nil, false},
	{"what is not omitted", tree{"off": true, "few": int64(1) << 40}, base(tree{"off": true, "few": int64(1) << 40}), true},
	{"no flag for a text", tree{"text": false}, nil, false},
	{"no number for a text", tree{"text": int64(0)}, nil, false},
	{"no text for a flag", tree{"off": ""}, nil, false},
	{"no text for a map", tree{"map": ""}, nil, false},
	{"no items for a map", tree{"map": []any{}}, nil, false},
	{"no entries for a list", tree{"others": tree{}}, nil, false},
	{"values", tree{"apiVersion": "v1", "kind": "K", "text": "é", "long": int64(1) << 40, "bytes": "YQ==", "texts": []any{"", "a"}, "map": tree{"": ""}, "amounts": tree{"cpu": "100m"}, "port": "http", "at": "2020-01-02T03:04:05Z", "gone": "2020-01-02T03:04:05.000006Z"},
		base(tree{"apiVersion": "v1", "kind": "K", "text": "é", "long": int64(1) << 40, "bytes": "YQ==", "texts": []any{"", "a"}, "map": tree{"": ""}, "amounts": tree{"cpu": "100m"}, "port": "http", "at": "2020-01-02T03:04:05Z", "gone": "2020-01-02T03:04:05.000006Z"}), true},
	{"below", tree{"inner": tree{"a": tree{}}, "others": []any{tree{"b": "c"}, tree{}}}, base(tree{"inner": tree{"b": "", "a": tree{"b": ""}}, "others": []any{tree{"b": "c"}, tree{"b": ""}}}), true},
	{"no protobuf has it", tree{"jsonOnly": "a"}, base(tree{"jsonOnly": "a"}), false},
	{"unknown", tree{"x": "a"}, nil, false},
	{"unknown below", tree{"others": []any{tree{"x": "a"}}}, nil, false},
	{"another case", tree{"Text": "a"}, nil, false},
	{"ignored", tree{"Ignored": "a"}, nil, false},
	{"raw", tree{"raw": tree{}}, nil, false},
	{"empty list of what writes itself", tree{"raws": []any{}}, nil, false},
	{"too large", tree{"number": int64(1) << 31}, nil, false},
	{"port too large", tree{"port": int64(1) << 31}, nil, false},
	{"no integer", tree{"number": 1.0}, nil, false},
	{"text for a number", tree{"number": "1"}, nil, false},
	{"number for a text", tree{"text": int64(1)}, nil, false},
	{"number for a flag", tree{"flag": int64(0)}, nil, false},
	{"flag for a text", tree{"written": false}, nil, false},
	{"list for a map", tree{"map": []any{"a"}}, nil, false},
	{"map for a list", tree{"texts": tree{"a": "b"}}, nil, false},
	{"text for a struct", tree{"inner": ""}, nil, false},
	{"list for a struct", tree{"inner": []any{}}, nil, false},
	{"null in a list", tree{"texts": []any{nil}}, nil, false},
	{"null in a map", tree{"map": tree{"a": nil}}, nil, false},
	{"empty list that is written", tree{"texts": []any{}}, nil, false},
	{"no bytes", tree{"bytes": ""}, nil, false},
	{"no UTF-8", tree{"text": "\xff"}, nil, false},
	{"no UTF-8 in a key", tree{"map": tree{"\xff": "a"}}, nil, false},
	{"longer amount", tree{"amounts": tree{"cpu": "1000m"}}, nil, false},
	{"amount as a number", tree{"amount": int64(1)}, nil, false},
	{"another zone", tree{"at": "2020-01-02T03:04:05+02:00"}, nil, false},
}

// TestKeeps holds that a tree is not kept where it says what its type would not.
func TestKeeps(t *testing.T) {
	of := Of(reflect.TypeFor[sample]())
	for name, with := range map[string]tree{
		"null":                 {"long": nil},
		"null for a text":      {"written": nil},
		"null for a struct":    {"inner": nil},
		"empty text":           {"text": ""},
		"empty map":            {"map": tree{}},
		"empty list":           {"others": []any{}},
		"no flag":              {"off": false},
		"no items":             {"texts": []any{}},
		"null in a list":       {"texts": []any{nil}},
		"entries of no type":   {"map": tree{"a": 1.5}},
		"less below":           {"others": []any{tree{}}},
		"what no protobuf has": {"jsonOnly": "a"},
	} {
		if sent := base(with); of.Keeps(sent) {
			t.Errorf("%s is kept: %v", name, sent)
		}
	}
	if !of.Keeps(base(nil)) || of.Keeps(nil) {
		t.Error("what is whole is kept, and nothing is not")
	}
	raw := Of(reflect.TypeFor[struct {
		Raw runtime.RawExtension `json:"raw" protobuf:"1"`
	}]())
	if raw.Complete(tree{}) || raw.Keeps(tree{}) {
		t.Error("it is told what a type that writes itself writes of nothing")
	}
}

func TestComplete(t *testing.T) {
	of := Of(reflect.TypeFor[*sample]())
	if of != Of(reflect.TypeFor[sample]()) {
		t.Error("a type is looked at twice")
	}
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			ok := of.Complete(c.sent)
			if ok != (c.whole != nil) || ok && !reflect.DeepEqual(c.sent, c.whole) {
				t.Fatalf("%v: %v, want %v", ok, c.sent, c.whole)
			}
			if kept := of.Keeps(c.sent); kept != c.kept {
				t.Errorf("kept: %v", kept)
			}
			if c.whole == nil {
				return
			}
			var typed sample
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.sent, &typed); err != nil {
				t.Fatal(err)
			}
			if back, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed); err != nil || !reflect.DeepEqual(back, c.whole) {
				t.Errorf("the Go type says %v, %v", back, err)
			}
			for name := range c.whole { // what is not there where the type writes it is not kept
				less := maps.Clone(c.whole)
				delete(less, name)
				if f := of.fields[name]; !f.omitted && of.Keeps(less) {
					t.Errorf("kept without %s", name)
				}
			}
		})
	}
}
