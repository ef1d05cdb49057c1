package extend_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// signingOf is a signing request with conditions of types, each for a reason.
func signingOf(t *testing.T, reason string, types ...string) *unstructured.Unstructured {
	t.Helper()
	conditions := []string{}
	for _, kind := range types {
		conditions = append(conditions, `{"type":"`+kind+`","status":"True","reason":"`+reason+`"}`)
	}
	return crdtest.Shaped(t, builtintest.Definitions(t)["certificatesigningrequest"], `{"metadata":{"name":"r","uid":"u","resourceVersion":"7"},
		"spec":{"request":"YQ==","signerName":"example.com/s","usages":["client auth"]},"status":{"conditions":[`+strings.Join(conditions, ",")+`]}}`)
}

// conditionsOf are those of a type.
func conditionsOf(obj *unstructured.Unstructured, kind string) (out []map[string]any) {
	all, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range all {
		if one := c.(map[string]any); one["type"] == kind {
			out = append(out, one)
		}
	}
	return out
}

// Who may write the status of a signing request does not thereby approve it, and
// nobody takes a decision back. The errors are kube-apiserver's.
func TestSigningRequestsAreApprovedByWhoMay_UPD02(t *testing.T) {
	for _, test := range []struct {
		subresource string
		was, now    []string
		want        string
	}{
		{"status", nil, []string{"Approved"}, `updates may not add a condition of type "Approved"`},
		{"status", nil, []string{"Denied"}, `updates may not add a condition of type "Denied"`},
		{"status", nil, []string{"Failed"}, ""},
		{"status", []string{"Approved"}, []string{"Approved", "Failed"}, ""},
		{"status", []string{"Approved"}, nil, `updates may not remove a condition of type "Approved"`},
		{"status", []string{"Failed"}, nil, `updates may not remove a condition of type "Failed"`},
		{"approval", nil, []string{"Approved"}, ""},
		{"approval", []string{"Denied"}, nil, `updates may not remove a condition of type "Denied"`},
		{"approval", []string{"Approved"}, []string{"Approved", "Denied"}, "Approved and Denied conditions are mutually exclusive"},
	} {
		update := builtintest.Definitions(t)["certificatesigningrequest"].Versions[0].Subresources[test.subresource].Update
		obj, old := signingOf(t, "new", test.now...), signingOf(t, "old", test.was...)
		update.Prepare(t.Context(), obj, old)
		errs := update.Validate(t.Context(), obj, old).Errors
		if test.want == "" && len(errs) > 0 || test.want != "" && !strings.Contains(fmt.Sprint(errs), test.want) {
			t.Errorf("%s %v -> %v: %v", test.subresource, test.was, test.now, errs)
		}
		approved := conditionsOf(obj, "Approved")
		if test.subresource == "status" && len(test.was) > 0 && len(approved) > 0 && approved[0]["reason"] != "old" {
			t.Errorf("a status changes an approval to %v", approved[0])
		}
		if failed := conditionsOf(obj, "Failed"); len(failed) > 0 && failed[0]["lastTransitionTime"] == nil {
			t.Errorf("a condition has no time: %v", failed[0])
		}
	}
}

// Who asks is noted by the server, whatever the request says.
func TestWhoAsksForACertificate(t *testing.T) {
	create := builtintest.Definitions(t)["certificatesigningrequest"].Versions[0].Strategy
	obj := signingOf(t, "")
	obj.Object["spec"].(map[string]any)["username"] = "somebody-else"
	obj.Object["spec"].(map[string]any)["uid"] = "another"
	create.Prepare(request.WithUser(t.Context(), &user.DefaultInfo{Name: "me", Groups: []string{"g"}}), obj, nil)
	spec := obj.Object["spec"].(map[string]any)
	if _, uid := spec["uid"]; uid || spec["username"] != "me" || fmt.Sprint(spec["groups"]) != "[g]" {
		t.Errorf("noted is %v", spec)
	}
	create.Prepare(request.WithUser(t.Context(), &user.DefaultInfo{Name: "alone"}), obj, nil)
	if groups, said := obj.Object["spec"].(map[string]any)["groups"]; said {
		t.Errorf("who is in no group is in %v", groups)
	}
	if extra, said := obj.Object["spec"].(map[string]any)["extra"]; said {
		t.Errorf("who has nothing extra has %v", extra)
	}
	create.Prepare(request.WithUser(t.Context(), &user.DefaultInfo{Name: "me", UID: "u", Extra: map[string][]string{"k": {"a", "b"}}}), obj, nil)
	if spec = obj.Object["spec"].(map[string]any); spec["uid"] != "u" || fmt.Sprint(spec["extra"]) != "map[k:[a b]]" {
		t.Errorf("noted is %v", spec)
	}
	create.Prepare(t.Context(), obj, nil)
	if name, said := obj.Object["spec"].(map[string]any)["username"]; said {
		t.Errorf("nobody asks as %v", name)
	}
}
