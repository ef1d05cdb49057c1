package sent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/kinds/sent"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// packed is an object in protobuf, of a kind that it says to be.
func packed(t *testing.T, apiVersion, kind string, raw []byte) string {
	t.Helper()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	data, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "k8s\x00" + string(data)
}

// A body is read whether it is JSON or protobuf, and of whatever version; what it leaves
// out is what is meant. What it is not is told in kube-apiserver's words.
func TestWhatClientsSendToQuestions(t *testing.T) {
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"a"}}}
	raw, err := token.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	of := func(apiVersion, kind string) string {
		return strings.Replace(string(text), "{", `{"apiVersion":"`+apiVersion+`","kind":"`+kind+`",`, 1)
	}
	const version, kind, unrecognized = "authentication.k8s.io/v1", "TokenRequest", "the object provided is unrecognized (must be of type TokenRequest): "
	for what, c := range map[string]struct{ contentType, body, want string }{
		"JSON":                      {"application/json", of(version, kind), ""},
		"of no kind":                {"application/json", string(text), ""},
		"of no version":             {"application/json", of("", kind), ""},
		"of the namespace":          {"application/json", strings.Replace(of(version, kind), `"metadata":{`, `"metadata":{"namespace":"n"`, 1), ""},
		"of an older version":       {"application/json", of("authentication.k8s.io/v1beta1", kind), ""},
		"of another version":        {"application/json", of("authentication.k8s.io/v2", kind), `TokenRequest in version "v2" cannot be handled as a TokenRequest: no kind "TokenRequest" is registered for version "authentication.k8s.io/v2"`},
		"of another kind":           {"application/json", of("v1", "Pod"), `Pod in version "v1" cannot be handled as a TokenRequest: no kind "Pod" is registered for version "v1"`},
		"of another kind, and odd":  {"application/json", `{"apiVersion":"v1","kind":"Pod","spec":7}`, `Pod in version "v1" cannot be handled as a TokenRequest: no kind "Pod" is registered for version "v1"`},
		"of another namespace":      {"application/json", strings.Replace(of(version, kind), `"metadata":{`, `"metadata":{"namespace":"m"`, 1), "the namespace of the provided object does not match the namespace sent on the request"},
		"no JSON":                   {"application/json", "?", unrecognized + "couldn't get version/kind; json parse error: invalid character '?' looking for beginning of value (3f)"},
		"of another form":           {"application/json", `{"spec":7}`, `TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal number into Go struct field TokenRequest.spec of type v1.TokenRequestSpec`},
		"protobuf":                  {wire.MediaType, packed(t, version, kind, raw), ""},
		"protobuf of no kind":       {wire.MediaType, packed(t, "", "", raw), ""},
		"protobuf of another kind":  {wire.MediaType, packed(t, "v1", "Pod", raw), `Pod in version "v1" cannot be handled as a TokenRequest: no kind "Pod" is registered for version "v1"`},
		"protobuf of another form":  {wire.MediaType, packed(t, version, kind, []byte{0xff}), `TokenRequest in version "v1" cannot be handled as a TokenRequest: unexpected EOF`},
		"what says to be protobuf":  {wire.MediaType, "{}", unrecognized},
		"nothing, which means that": {"application/json", "{}", ""},
	} {
		into := &authenticationv1.TokenRequest{}
		err := sent.Read(sent.Body{ContentType: c.contentType, Data: []byte(c.body)}, into, resource.Target{Namespace: "n"}, kind,
			authenticationv1.SchemeGroupVersion, schema.GroupVersion{Group: "authentication.k8s.io", Version: "v1beta1"})
		if c.want == "" {
			if err != nil || into.Namespace != "n" || (c.body != "{}") != slices.Equal(into.Spec.Audiences, []string{"a"}) {
				t.Errorf("%s: %+v, %v", what, into, err)
			}
			continue
		}
		if !apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// Fields that a type does not have are warned of or refused, as the client asks for, and
// so are those that were found before.
func TestFieldsThatQuestionsDoNotHave(t *testing.T) {
	for validation, want := range map[string]string{
		"Strict": `Eviction in version "v1" cannot be handled as a Eviction: strict decoding error: duplicate field "a", unknown field "spec"`,
		"Warn":   "", "Ignore": "",
	} {
		var warned []string
		o := resource.WriteOptions{FieldValidation: validation, Problems: []string{`duplicate field "a"`}, Warn: func(text string) { warned = append(warned, text) }}
		err := sent.Read(sent.Body{ContentType: "application/json", Data: []byte(`{"spec":{}}`), Options: o}, &policyv1.Eviction{}, resource.Target{}, "Eviction", policyv1.SchemeGroupVersion)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", validation, err, want)
		}
		if got := strings.Join(warned, "; "); validation == "Warn" && got != `duplicate field "a"; unknown field "spec"` || validation != "Warn" && got != "" {
			t.Errorf("%s: warned %q", validation, got)
		}
	}
}
