package body

import (
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// filled is a text of pieces between a beginning and an end.
func filled(begin, piece, end string) string { return begin + strings.Repeat(piece, 4000) + end }

// decoded is how many bytes f allocates where it has nothing to borrow: pools are empty
// after two collections.
func decoded(f func()) int {
	goruntime.GC()
	goruntime.GC()
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	f()
	goruntime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// What a body is said to take is what its decoders allocate: not half of it for
// any form, or many would pass, and no more than a few times that, or common
// objects would be refused.
func TestTheWeightIsWhatDecodingAllocates(t *testing.T) {
	parse := func(body string) { _, _, _ = object.Parse([]byte(body)) }
	pod := func(body string) {
		var p corev1.Pod
		if err := p.Unmarshal([]byte(body)); err != nil {
			t.Error(err)
		}
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&p)
		if err != nil {
			t.Error(err)
		}
		if _, err := object.Encode(tree); err != nil {
			t.Error(err)
		}
	}
	numbers := filled("\x22\xa0\x1f", "\x01", "") // groups of a pod: 4000 in one field
	document := func(body string) { _, _ = yamlToJSON([]byte(body)) }
	for name, c := range map[string]struct {
		media, body string
		decode      func(string)
	}{
		"numbers":     {encoding.TypeJSON, filled(`{"a":[`, `0,`, `0]}`), parse},
		"lists":       {encoding.TypeJSON, filled(`{"a":[`, `[],`, `0]}`), parse},
		"objects":     {encoding.TypeJSON, filled(`{"a":[`, `{"":0},`, `0]}`), parse},
		"flow":        {encoding.TypeYAML, filled("{a: [", "0,", "]}"), document},
		"flow maps":   {encoding.TypeYAML, filled("a: [", "{a},", "]"), document},
		"dashes":      {encoding.TypeYAML, filled("a:\n", "-\n", ""), document},
		"aliases":     {encoding.TypeYAML, filled("a: &a {}\nb: [", "*a,", "]"), document},
		"questions":   {encoding.TypeYAML, filled("", "? a\n", ""), document},
		"packed":      {encoding.TypeProtobuf, "\x12\xa6\x1f\x72\xa3\x1f" + numbers, pod},
		"common JSON": {encoding.TypeJSON, filled(`{"a":[`, `{"name":"container","image":"registry.example.com/image:v1"},`, `0]}`), parse},
		"common YAML": {encoding.TypeYAML, filled("a:\n", "- name: container\n  image: registry.example.com/image\n", ""), document},
	} {
		c.decode(c.body) // what is made once for a type is no body's
		took, said := decoded(func() { c.decode(c.body) }), Body{ContentType: c.media, Data: []byte(c.body)}.Weight()
		if said < took/2 || said > 4*took {
			t.Errorf("%s: %d bytes for a body whose decoders allocate %d", name, said, took)
		}
	}
}

// However much there is of it, JSON weighs what its objects, lists and elements do, and what
// stands in texts weighs nothing more.
func TestJSONWeighsWhatItsPartsDo(t *testing.T) {
	for _, piece := range []string{"-12.5e3,", "[[]],", "{},", ` { "a" : true } , `} {
		body := []byte("[" + strings.Repeat(piece, unsure/(perByte*len(piece))+1) + "0]")
		want := perByte*len(body) + perObject*count(body, '{') + perList*count(body, '[') + perElement*count(body, ',')
		if got := jsonWeight(body); got != want || got < unsure {
			t.Errorf("%s: %d, want %d", piece, got, want)
		}
	}
	text := []byte(`["` + strings.Repeat(`{[,\",`, unsure/perObject) + `"]`)
	if got, want := jsonWeight(text), perByte*len(text)+perList; got != want {
		t.Errorf("a text: %d, want %d", got, want)
	}
}

// What aliases stand for is weighed, not only where they are.
func TestAliasesWeighWhatTheyStandFor(t *testing.T) {
	for name, one := range map[string]string{
		"numbers": strings.Repeat("0,", 300),
		"lists":   strings.Repeat("[],", 300),
		"maps":    strings.Repeat("{},", 300),
		"pairs":   strings.Repeat("{a: b},", 300),
		"texts":   strings.Repeat("x", 10_000),
	} {
		body := "a: &a [" + one + "]\nb: [" + strings.Repeat("*a,", 80) + "]\n"
		b := Body{ContentType: encoding.TypeYAML, Data: []byte(body)}
		took, said := decoded(func() { _, _ = yamlToJSON(b.Data) }), b.Weight()+b.Aliased()
		if said < took/2 || said > 6*took {
			t.Errorf("%s: %d bytes for a body whose decoders allocate %d", name, said, took)
		}
	}
}

// Only YAML has aliases, and only where one can stand: an asterisk in a text is none.
func TestOnlyAliasesOfYAMLAreWeighed(t *testing.T) {
	const aliased = "a: &a [0, 0]\nb: *a\n"
	for _, c := range []struct {
		media, body string
		want        bool
	}{
		{encoding.TypeYAML, aliased, true},
		{"application/apply-patch+yaml", aliased, true},
		{encoding.TypeJSON, aliased, false},
		{encoding.TypeProtobuf, aliased, false},
		{"no/type/at all", aliased, false},
		{encoding.TypeYAML, "a: 1\nb: 2\n", false},
		{encoding.TypeYAML, "a: &a 1\n", false},
		{encoding.TypeYAML, `{"a":"&a","b":"*a"}`, false},
	} {
		if n := (Body{ContentType: c.media, Data: []byte(c.body)}).Aliased(); n > 0 != c.want {
			t.Errorf("%s: %d bytes more for %q", c.media, n, c.body)
		}
	}
}

// Separators within texts are none, where it matters.
func TestTextsWeighLittle(t *testing.T) {
	table := `{"kind":"ConfigMap","apiVersion":"v1","data":{"table":"` + strings.Repeat(`1,{[\"`, 150_000) + `"}}`
	for _, media := range []string{encoding.TypeJSON, encoding.TypeYAML} {
		if n := (Body{ContentType: media, Data: []byte(table)}).Weight(); n > 6*len(table) {
			t.Errorf("%s: %d bytes for a text of %d", media, n, len(table))
		}
	}
}

func TestItemsOfCBORAreCounted(t *testing.T) {
	tree := map[string]any{"a": []any{map[string]any{}, "x", int64(1 << 40), 1.5, nil, true}, "b": map[string]any{"c": []byte("d")}}
	data, err := direct.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if items, maps := cborItems(append([]byte("\xd9\xd9\xf7"), data...)); maps != 3 || items < 14 || items > 16 {
		t.Errorf("%d items, %d maps in %x", items, maps, data)
	}
	for n := range data {
		cborItems(data[:n]) // does not panic
	}
}

// BenchmarkWeight is what telling the weight of a common body adds to a write.
func BenchmarkWeight(b *testing.B) {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{"app": "one"}}}
	for i := range 10 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("container", i), Image: "registry.example.com/image:v1", Args: []string{"--verbose", "--port=80"}})
	}
	text, err := json.Marshal(&pod)
	if err != nil {
		b.Fatal(err)
	}
	message, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	for media, body := range map[string][]byte{encoding.TypeJSON: text, encoding.TypeYAML: text, encoding.TypeProtobuf: message} {
		b.Run(media, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Body{ContentType: media, Data: body}.Weight()
			}
		})
	}
}

// Only the brackets that are open count, and none of those in a text.
func TestDepthIsCounted(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                      false,
		"{}":                                    false,
		`"`:                                     false,
		`"\\`:                                   false,
		strings.Repeat("[]", object.MaxDepth+1): false,
		strings.Repeat("[", object.MaxDepth):    false,
		strings.Repeat("[", object.MaxDepth+1):  true,
		`"` + strings.Repeat("{", object.MaxDepth+1) + `"`: false,
		`"\""` + strings.Repeat("{", object.MaxDepth+1):    true,
	} {
		if got := (Body{Data: []byte(text)}).deep(); got != want {
			t.Errorf("%.20q, %d bytes: %v", text, len(text), got)
		}
	}
}
