package sdk

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// admit answers a review of an object (JSON) with fn.
func admit(t *testing.T, fn AdmitFunc, request string) (out struct {
	Kind, APIVersion string
	Response         struct {
		UID     string
		Allowed bool
		Status  struct {
			Code            int
			Reason, Message string
		}
		PatchType string
		Patch     string
		Warnings  []string
		// AuditAnnotations is nil when there are none.
		AuditAnnotations map[string]string
	}
}) {
	t.Helper()
	Admit(fn)
	t.Cleanup(func() { admits = nil })
	reply := HandleAdmission([]byte(request))
	if err := json.Unmarshal(reply, &out); err != nil {
		t.Fatalf("%v in %s", err, reply)
	}
	patch, err := base64.StdEncoding.DecodeString(out.Response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	out.Response.Patch = string(patch)
	return out
}

func admissionReview(fields string) string {
	return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",` + fields + `}}`
}

func TestAReviewIsReadAndAnswered_WP02(t *testing.T) {
	got := admit(t, func(r *Review) error {
		user, _ := r.Request("userInfo", "username").String()
		if r.Operation != "UPDATE" || !r.DryRun || r.Object.Name() != "new" || r.Old.Name() != "old" || user != "alice" {
			t.Errorf("got %+v by %s", r, user)
		}
		r.Warn("one")
		r.Warn(`"two"`)
		r.Annotate("a", "b")
		r.Annotate(`"c"`, "1")
		r.Annotate(`"c"`, "2")
		return nil
	}, admissionReview(`"operation":"UPDATE","dryRun":true,"userInfo":{"username":"alice"},"object":{"metadata":{"name":"new"}},"oldObject":{"metadata":{"name":"old"}}`))
	if got.Kind != "AdmissionReview" || got.APIVersion != "admission.k8s.io/v1" || got.Response.UID != "u" || !got.Response.Allowed ||
		got.Response.Patch != "" || got.Response.PatchType != "" || !reflect.DeepEqual(got.Response.Warnings, []string{"one", `"two"`}) ||
		!reflect.DeepEqual(got.Response.AuditAnnotations, map[string]string{"a": "b", `"c"`: "2"}) {
		t.Errorf("got %+v", got)
	}
}

func TestAnErrorRefuses_WP02(t *testing.T) {
	got := admit(t, func(r *Review) error {
		r.Warn("beware")
		if err := r.Object.At("x").SetInt(1); err != nil {
			return err
		}
		return errors.New(`no "label"`)
	}, admissionReview(`"operation":"CREATE","object":{},"oldObject":null`)).Response
	if got.Allowed || got.Status.Code != 403 || got.Status.Reason != "Forbidden" || got.Status.Message != `no "label"` || got.Patch != "" || len(got.Warnings) != 1 || got.AuditAnnotations != nil {
		t.Errorf("got %+v", got)
	}
	got = admit(t, func(r *Review) error {
		if r.Object != nil || r.Old == nil {
			t.Errorf("got %+v", r)
		}
		return nil
	}, admissionReview(`"operation":"DELETE","object":null,"oldObject":{}`)).Response
	if !got.Allowed {
		t.Errorf("a deletion: %+v", got)
	}
	if got = admit(t, nil, admissionReview(`"object":{}`)).Response; got.Allowed || !strings.Contains(got.Status.Message, "without sdk.Admit") || got.UID != "u" {
		t.Errorf("without a function: %+v", got)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"request":1}`, `{"request":{"object":1}}`, `{"request":{"oldObject":[]}}`} {
		if got = admit(t, func(*Review) error { return nil }, bad).Response; got.Allowed || got.Status.Message != "the request is not an AdmissionReview" {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestChangesBecomeAPatch_WP02(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":   {`{"a":{"b":1}}`, `{"a":{"b":1}}`, `[`},
		"order":     {`{"a":1,"b":2}`, `{"b":2,"a":1}`, `[`},
		"a value":   {`{"a":{"b":1,"c":[1]}}`, `{"a":{"b":2,"c":[1]}}`, `[{"op":"replace","path":"/a/b","value":2}`},
		"an array":  {`{"a":[1,2]}`, `{"a":[1]}`, `[{"op":"replace","path":"/a","value":[1]}`},
		"a type":    {`{"a":{"b":1}}`, `{"a":null}`, `[{"op":"replace","path":"/a","value":null}`},
		"added":     {`{}`, `{"a":{"b":1}}`, `[{"op":"add","path":"/a","value":{"b":1}}`},
		"removed":   {`{"a":1,"b":2}`, `{"b":2}`, `[{"op":"remove","path":"/a"}`},
		"both":      {`{"a":1}`, `{"b":1}`, `[{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":1}`},
		"odd names": {`{"a/b~c":1}`, `{"a/b~c":2,"\"\u00e9":3}`, `[{"op":"replace","path":"/a~1b~0c","value":2},{"op":"add","path":"/\"é","value":3}`},
	} {
		if got := string(appendChanges([]byte{'['}, "", []byte(c.before), []byte(c.after))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	got := admit(t, func(r *Review) error { return r.Object.At("metadata", "labels", "a").SetString("b") }, admissionReview(`"object":{"metadata":{"name":"x"}}`)).Response
	if !got.Allowed || got.PatchType != "JSONPatch" || got.Patch != `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]` {
		t.Errorf("got %+v", got)
	}
}
