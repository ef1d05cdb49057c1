package webhook

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	v1 "k8s.io/api/admission/v1"
	v1beta1 "k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
)

// maxTold is the most bytes of an error about a reply: what is repeated of it, and
// our words.
const maxTold = maxMessage + 1<<10

// peer reads the reply to a review as kube-apiserver does.
func peer(reply []byte, review string, mutating bool) (*request.AdmissionResponse, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	codec := serializer.NewCodecFactory(scheme).LegacyCodec(v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion)
	var into runtime.Object = &v1.AdmissionReview{}
	if review == "v1beta1" {
		into = &v1beta1.AdmissionReview{}
	}
	if _, _, err := codec.Decode(reply, nil, into); err != nil {
		return nil, err
	}
	return request.VerifyAdmissionResponse(types.UID("u"), mutating, into)
}

// A reply is taken if kube-apiserver takes it, and says the same.
func FuzzReplies_WP02(f *testing.F) {
	for _, response := range []string{
		`{"uid":"u","allowed":true}`, `{"uid":"u","allowed":false,"status":{"code":403,"message":"no","reason":"Forbidden"}}`,
		`{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":"W10="}`, `{"uid":"u","allowed":true,"patch":"W10="}`, `{"uid":"u","allowed":true,"patchType":""}`,
		`{"uid":"u","allowed":true,"warnings":["a","b"],"auditAnnotations":{"a":"b"}}`, `{"uid":"x"}`, `null`, `[]`, `{"Uid":"u","ALLOWED":true}`, `{"uid":"u","uid":"v"}`,
		`{"uid":"u","patch":"?"}`, `{"uid":"u","allowed":"yes"}`, `{"uid":"u","status":{"code":1e99}}`,
	} {
		for _, version := range []string{"v1", "v1beta1", "v2"} {
			whole := []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/` + version + `","response":` + response + `}`)
			f.Add(whole, true, false)
			f.Add(whole, false, true)
		}
	}
	for _, reply := range []string{``, `{}`, `null`, `{"response":{"uid":"u","allowed":true}}`, `{"kind":"Status","apiVersion":"v1","response":{"uid":"u"}}`, "\xff", `{"kind":1}`} {
		f.Add([]byte(reply), true, true)
	}
	f.Add([]byte(`{"ApiVersion":"0","response":{}}`), false, true)
	f.Fuzz(func(t *testing.T, reply []byte, mutating, old bool) {
		review := "v1"
		if old {
			review = "v1beta1"
		}
		got, err := parseReview(reply, review, "u", mutating)
		want, wrong := peer(reply, review, mutating)
		if (err != nil) != (wrong != nil) {
			t.Fatalf("%q, %s, mutating %v: %v; kube-apiserver: %v", reply, review, mutating, err, wrong)
		}
		if err != nil {
			return
		}
		if got.Allowed != want.Allowed || !bytes.Equal(got.Patch, want.Patch) || !slices.Equal(got.Warnings, want.Warnings) || !maps.Equal(got.AuditAnnotations, want.AuditAnnotations) {
			t.Errorf("%q, %s, mutating %v: %+v; kube-apiserver: %+v", reply, review, mutating, got, want)
		}
		if no := (&Hook{Name: "a"}).verdict(got); (no == nil) != want.Allowed || no != nil && len(no.Error()) > maxTold {
			t.Errorf("%q: %v", reply, no)
		}
	})
}

// Whatever a webhook wants to change, the object stays one of its kind, and stays
// what it was when that cannot be; what is said about it is bounded.
func FuzzPatchesOfReplies_WP02(f *testing.F) {
	for _, patch := range []string{
		`[]`, `{}`, `[{"op":"add","path":"/host","value":"x"}]`, `[{"op":"replace","path":"","value":{}}]`, `[{"op":"remove","path":"/metadata"}]`, `[{"op":"replace","path":"/kind","value":"Other"}]`,
		`[{"op":"copy","from":"/metadata","path":"/metadata/labels/a"}]`, `[{"op":"move","from":"/host","path":"/apiVersion"}]`, `[{"op":"test","path":"/host","value":"h"},{"op":"remove","path":"/host"}]`,
		`[{"op":"add","path":"/a~1b/-","value":[1]}]`, `[null]`, `[{"op":"replace","path":"","value":null}]`, `[{"op":"add","path":"/metadata/labels","value":7}]`, `[{"op":"replace","path":"","value":[]}]`,
	} {
		f.Add([]byte(patch))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		w := newWorld(t)
		w.answers["a"] = patches(string(patch))
		before, err := json.Marshal(w.After)
		if err != nil {
			t.Fatal(err)
		}
		err = w.mutate(t.Context(), w.hooks(true, `{}`), w.request())
		if err != nil {
			after, _ := json.Marshal(w.After)
			if len(err.Error()) > maxTold || !bytes.Equal(before, after) || w.Replaced != 0 {
				t.Errorf("%q: %v, and it is %s", patch, err, after)
			}
			return
		}
		if w.After["kind"] != "Tab" || w.After["apiVersion"] != "example.com/v1" {
			t.Errorf("%q makes %v", patch, w.After)
		}
	})
}
