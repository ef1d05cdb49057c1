package kubewarden

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const asked = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7","object":{"kind":"A","metadata":{"name":"a","labels":{"x/y":"1"}},"n":1e2}}}`

func TestRequest(t *testing.T) {
	for settings, want := range map[string]string{
		``:        `{"request":{"uid":"7"},"settings":{}}`,
		` `:       `{"request":{"uid":"7"},"settings":{}}`,
		`{"a":1}`: `{"request":{"uid":"7"},"settings":{"a":1}}`,
		`[1]`:     `{"request":{"uid":"7"},"settings":[1]}`,
	} {
		got, err := Request([]byte(`{"kind":"AdmissionReview","request":{"uid":"7"}}`), []byte(settings))
		if err != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%q: %s, %v; want %s", settings, got, err, want)
		}
	}
	for _, review := range []string{``, `[]`, `{}`, `{"request":null}`, `{"request":[]}`, `{"request":{`} {
		if got, err := Request([]byte(review), nil); err == nil {
			t.Errorf("%s is asked as %s", review, got)
		}
	}
}

func TestReply(t *testing.T) {
	for said, want := range map[string]string{
		`{"accepted":true}`: `"response":{"uid":"7","allowed":true}`,
		`{"accepted":true,"message":"x","code":500,"mutated_object":null}`: `"response":{"uid":"7","allowed":true}`,
		`{"accepted":false}`: `"response":{"uid":"7","allowed":false,"status":{}}`,
		`{"accepted":false,"message":"no","code":422,"mutated_object":{}}`:                                      `"response":{"uid":"7","allowed":false,"status":{"message":"no","code":422}}`,
		`{"accepted":true,"warnings":["w"],"audit_annotations":{"a":"b"}}`:                                      `"allowed":true,"auditAnnotations":{"a":"b"},"warnings":["w"]}`,
		`{"accepted":true,"mutated_object":{"n":1e2,"metadata":{"labels":{"x/y":"1"},"name":"a"}, "kind":"A"}}`: `"allowed":true}}`,
	} {
		got, err := Reply([]byte(asked), []byte(said))
		if err != nil || !strings.HasPrefix(string(got), `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",`) || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v; want %s", said, got, err, want)
		}
	}
	got, err := Reply([]byte(asked), []byte(`{"accepted":true,"audit_annotations":null,"warnings":["w"`+strings.Repeat(`,"x"`, maxTold+1)+`]}`))
	if err != nil || !strings.HasSuffix(string(got), `"warnings":["w"`+strings.Repeat(`,"x"`, maxTold-1)+`,"and 2 more"]}}`) {
		t.Errorf("of many warnings: %s, %v", got, err)
	}
	for said, want := range map[string]string{
		``:                                       "cannot be read",
		`"v1"`:                                   "cannot be read",
		`{}`:                                     "does not say whether",
		`{"accepted":null}`:                      "does not say whether",
		`{"accepted":"true"}`:                    "cannot be read",
		`{"accepted":true,"warnings":"w"}`:       "cannot be read",
		`{"accepted":true,"warnings":{"a":"w"}}`: "cannot be read",
		`{"accepted":true,"warnings":[1]}`:       "cannot be read",
		`{"accepted":true,"audit_annotations":["w"]}`:                                                "cannot be read",
		`{"accepted":true,"audit_annotations":{"a":1}}`:                                              "cannot be read",
		`{"accepted":true,"audit_annotations":{"a":"b"` + strings.Repeat(`,"a":"b"`, maxTold) + `}}`: "its answer has 101 audit annotations, more than 100",
		`{"accepted":true,"mutated_object":[1]}`:                                                     "the object that it changed is none",
	} {
		if got, err := Reply([]byte(asked), []byte(said)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", said, got, err, want)
		}
	}
}

// What is made of an answer is bounded by its size, however many items it has.
func TestManyItemsTakeNoMoreThanTheirText(t *testing.T) {
	var names strings.Builder
	for n := range 1 << 20 {
		fmt.Fprintf(&names, `"%d":"",`, n)
	}
	for field, many := range map[string]string{`"warnings":["%s"]`: strings.Repeat(`","`, 1<<20), `"audit_annotations":{%s"":""}`: names.String()} {
		said := fmt.Sprintf(`{"accepted":true,`+field+`}`, many)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Reply([]byte(asked), []byte(said))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(said)) {
			t.Errorf("%s: %d bytes of %d", field, took, len(said))
		}
	}
}

func TestWhatAPolicyChangedIsAPatch(t *testing.T) {
	for mutated, want := range map[string]string{
		`{"kind":"A","metadata":{"name":"a","labels":{"x/y":"2"}},"n":1e2}`:         `[{"op":"replace","path":"/metadata/labels/x~1y","value":"2"}]`,
		`{"kind":"A","metadata":{"name":"a","labels":{"x/y":"1","~":"2"}},"n":1e2}`: `[{"op":"add","path":"/metadata/labels/~0","value":"2"}]`,
		`{"kind":"A","metadata":{"name":"a"},"n":1e2}`:                              `[{"op":"remove","path":"/metadata/labels"}]`,
		`{"kind":"A","metadata":{"name":"a","labels":null},"n":100}`:                `[{"op":"replace","path":"/metadata/labels","value":null},{"op":"replace","path":"/n","value":100}]`,
	} {
		if got := patchOf(t, asked, mutated); got != want {
			t.Errorf("%s: %s, want %s", mutated, got, want)
		}
	}
	if got := patchOf(t, `{"request":{"uid":"7","object":null}}`, `{"a":1}`); got != `[{"op":"replace","path":"","value":{"a":1}}]` {
		t.Errorf("of nothing: %s", got)
	}
	most := make([]string, maxOperations)
	for i := range most {
		most[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	var operations []json.RawMessage
	if got := patchOf(t, `{"request":{"uid":"7","object":{}}}`, `{`+strings.Join(most, ",")+`}`); json.Unmarshal([]byte(got), &operations) != nil || len(operations) != maxOperations {
		t.Errorf("of as many differences as are told one by one: %d operations", len(operations))
	}
	var wide strings.Builder
	for i := range maxOperations + 1 {
		wide.WriteString(`,"` + strings.Repeat("k", i+1) + `":1`)
	}
	object := `{"kind":"A"` + wide.String() + `}`
	if got := patchOf(t, asked, object); got != `[{"op":"replace","path":"","value":`+object+`}]` {
		t.Errorf("of many differences: %.200s", got)
	}
}

// What is large is not looked through.
func TestWhatIsLargeIsReplaced(t *testing.T) {
	large := strings.Repeat("x", maxCompared)
	if got := patchOf(t, asked, `{"a":"`+large+`"}`); got != `[{"op":"replace","path":"","value":{"a":"`+large+`"}}]` {
		t.Errorf("%.200s", got)
	}
}

// What is only written otherwise is no change; what is deep, or was no object, is replaced
// whole.
func TestWhatAPolicyWroteOtherwise(t *testing.T) {
	const was = `"d":{"d":{"d":{"d":{"x":1,"y":1}}}},"l":[{"a":1,"b":2}],"n":null`
	for mutated, want := range map[string]string{
		strings.Replace(was, `{"a":1,"b":2}`, `{"b": 2, "a": 1}`, 1) + `,"o":1`: `[{"op":"add","path":"/o","value":1}]`,
		strings.Replace(was, `"b":2`, `"b":3`, 1):                               `[{"op":"replace","path":"/l","value":[{"a":1,"b":3}]}]`,
		strings.Replace(was, `"x":1`, `"x":2`, 1):                               `[{"op":"replace","path":"/d/d/d/d","value":{"x":2,"y":1}}]`,
		strings.Replace(was, `null`, `{"a":1}`, 1):                              `[{"op":"replace","path":"/n","value":{"a":1}}]`,
	} {
		if got := patchOf(t, `{"request":{"uid":"7","object":{`+was+`}}}`, `{`+mutated+`}`); got != want {
			t.Errorf("%s: %s, want %s", mutated, got, want)
		}
	}
	for more, want := range []string{`[{"op":"add","path":"/a","value":"x`, `[{"op":"replace","path":"","value":{"a":"x`} {
		text := strings.Repeat("x", maxCompared-len(`{}`)-len(`{"a":""}`)+more)
		if got := patchOf(t, `{"request":{"uid":"7","object":{}}}`, `{"a":"`+text+`"}`); !strings.HasPrefix(got, want) {
			t.Errorf("%d more than is looked through: %.100s", more, got)
		}
	}
}

// patchOf is the patch of an answer.
func patchOf(t *testing.T, review, mutated string) string {
	t.Helper()
	reply, err := Reply([]byte(review), []byte(`{"accepted":true,"mutated_object":`+mutated+`}`))
	var got struct {
		Response struct{ Patch, PatchType string }
	}
	if err != nil || json.Unmarshal(reply, &got) != nil || got.Response.PatchType != "JSONPatch" {
		t.Fatalf("%s: %s, %v", mutated, reply, err)
	}
	patch, err := base64.StdEncoding.DecodeString(got.Response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	return string(patch)
}

func TestSettingsAndProtocol(t *testing.T) {
	for answer, want := range map[string]string{
		`{"valid":true}`:                  "",
		`{"valid":true,"message":"x"}`:    "",
		`{"valid":false}`:                 "it refuses its settings, and does not say why",
		`{"valid":false,"message":"why"}`: "it refuses its settings: why",
		`{}`:                              "does not say whether they are valid",
		`true`:                            "cannot be read",
		``:                                "cannot be read",
	} {
		if err := Valid([]byte(answer)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", answer, err, want)
		}
	}
	for answer, ok := range map[string]bool{`"v1"`: true, `"v2"`: false, `v1`: false, ``: false, `null`: false} {
		if err := Protocol([]byte(answer)); (err == nil) != ok {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestQuestions(t *testing.T) {
	get := func(payload string) Call { return Call{"kubewarden", "kubernetes", "get_resource", []byte(payload)} }
	for payload, want := range map[string]string{
		`{"api_version":"v1","kind":"Namespace","name":"a","namespace":null,"disable_cache":true}`:   "/namespaces//a",
		`{"api_version":"apps/v1","kind":"Deployment","name":"a","namespace":"b"}`:                   "apps/deployments/b/a",
		`{"api_version":"networking.k8s.io/v1","kind":"NetworkPolicy","name":"a","namespace":"b"}`:   "networking.k8s.io/networkpolicies/b/a",
		`{"api_version":"networking.k8s.io/v1","kind":"Ingress","name":"a","namespace":"b"}`:         "networking.k8s.io/ingresses/b/a",
		`{"api_version":"v1","kind":"Endpoints","name":"a","namespace":"b"}`:                         "/endpoints/b/a",
		`{"api_version":"gateway.networking.k8s.io/v1","kind":"Gateway","name":"a","namespace":"b"}`: "gateway.networking.k8s.io/gateways/b/a",
	} {
		if q, err := get(payload).Question(); err != nil || q.Object.String() != want || q.Line != "" {
			t.Errorf("%s: %v, %v; want %s", payload, q, err, want)
		}
	}
	q, err := get(`{"api_version":"apps/v1","kind":"Deployment","name":"a","namespace":"b"}`).Question()
	if err != nil || q.Found([]byte(`{"apiVersion":"apps/v1"}`)) != nil || q.Found([]byte(`{"apiVersion":"apps/v2"}`)) == nil || q.Found([]byte(`x`)) == nil {
		t.Errorf("what is found is not looked at: %v", err)
	}
	if q, err := (Call{"kubewarden", "tracing", "log", []byte("hello")}).Question(); err != nil || q.Line != "hello" || q.Object.Name != "" {
		t.Errorf("a line: %v, %v", q, err)
	}
	for want, c := range map[string]Call{
		"api_version, kind and name are needed":                 get(`{"api_version":"v1","kind":"Pod"}`),
		"its payload cannot be read":                            get(`[]`),
		"does not name an object":                               get(`{"api_version":"v1","kind":"Pod","name":"a/b"}`),
		"only get_resource is":                                  {"kubewarden", "kubernetes", "list_resources_all", nil},
		"does not offer oci/v1/verify of kubewarden":            {"kubewarden", "oci", "v1/verify", nil},
		"net/v1/dns_lookup_host of kubewarden to policies":      {"kubewarden", "net", "v1/dns_lookup_host", nil},
		"a policy reaches no registries, networks or keys here": {"kubewarden", "crypto", "v1/is_certificate_trusted", nil},
		"only the binding kubewarden is":                        {"kubernetes", "namespaces", "list", nil},
	} {
		if q, err := c.Question(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v; want %s", c, q, err, want)
		}
	}
}

// Whatever a policy answers or asks, what is made of it can be read.
func FuzzPolicy(f *testing.F) {
	f.Add(asked, `{"accepted":true,"mutated_object":{"kind":"A","metadata":{"labels":{"x~y":[{}]}}}}`, `{"api_version":"v1","kind":"Pod","name":"a"}`)
	f.Add(`{"request":{}}`, `{"accepted":false,"message":"\ud800","code":-1}`, `{"api_version":"/","kind":"s","name":"\u0000"}`)
	f.Fuzz(func(t *testing.T, review, said, payload string) {
		if sent, err := Request([]byte(review), []byte(`{}`)); err == nil && !json.Valid(sent) {
			t.Errorf("%q is sent", sent)
		}
		if reply, err := Reply([]byte(review), []byte(said)); err == nil && !json.Valid(reply) {
			t.Errorf("%q is replied", reply)
		}
		_, _ = Valid([]byte(said)), Protocol([]byte(said))
		if q, err := (Call{binding, kubernetes, getOne, []byte(payload)}).Question(); err == nil {
			if len(strings.Split(q.Object.String(), "/")) != 4 {
				t.Errorf("%q asks for %s", payload, q.Object)
			}
			_ = q.Found([]byte(said))
		}
	})
}
