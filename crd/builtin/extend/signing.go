package extend

import (
	"fmt"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The conditions of a signing request that only who may approve sets, and those
// that nobody takes back.
var (
	approvals = []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied}
	lasting   = append(approvals[:2:2], certificatesv1.CertificateFailed)
)

// narrowSigning lets an approval change nothing of a signing request but its
// conditions, and a status nothing of those that approve or deny. It dates conditions
// that have no times.
func narrowSigning(subresource string, obj, old map[string]any) {
	if subresource == "" {
		return
	}
	status, was := object.Child(obj, "status"), object.Child(old, "status")
	if subresource == "approval" {
		conditions, said := status["conditions"]
		status = runtime.DeepCopyJSON(was)
		if status == nil {
			status = map[string]any{}
		}
		delete(status, "conditions")
		if said {
			status["conditions"] = conditions
		}
		obj["status"] = status
	} else {
		for _, kind := range approvals {
			now, before := conditionsOf(status, kind), conditionsOf(was, kind)
			for i := range now {
				if len(now) == len(before) {
					clear(now[i])
					for name, v := range before[i] {
						now[i][name] = v
					}
				}
			}
		}
	}
	dateConditions(status, was)
}

// conditionsOf are the conditions of a type.
func conditionsOf(status map[string]any, kind certificatesv1.RequestConditionType) (out []map[string]any) {
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && object.TextAt(c, "type") == string(kind) {
			out = append(out, c)
		}
	}
	return out
}

// dateConditions gives conditions the times that they lack: of a transition that
// of the condition before with the same status, else the present one.
func dateConditions(status, was map[string]any) {
	now := time.Now().UTC().Format(time.RFC3339)
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if c["lastUpdateTime"] == nil {
			c["lastUpdateTime"] = now
		}
		if c["lastTransitionTime"] != nil {
			continue
		}
		c["lastTransitionTime"] = now
		for _, before := range conditionsOf(was, certificatesv1.RequestConditionType(object.TextAt(c, "type"))) {
			if before["status"] == c["status"] && before["lastTransitionTime"] != nil {
				c["lastTransitionTime"] = before["lastTransitionTime"]
				break
			}
		}
	}
}

// validateSigning refuses to take conditions back, and to approve or to deny but
// through the subresource for that, which its own right is needed for.
func validateSigning(subresource string, obj, old map[string]any) field.ErrorList {
	errs := signingMistakes(obj, old)
	path := field.NewPath("status", "conditions")
	status, was := object.Child(obj, "status"), object.Child(old, "status")
	if subresource != "" && len(conditionsOf(status, approvals[0])) > 0 && len(conditionsOf(status, approvals[1])) > 0 &&
		(len(conditionsOf(was, approvals[0])) == 0 || len(conditionsOf(was, approvals[1])) == 0) {
		errs = append(errs, field.Invalid(path, lastApproval(status), "Approved and Denied conditions are mutually exclusive"))
	}
	errs = append(errs, untrue(path, status)...)
	if old == nil {
		return errs
	}
	for _, kind := range lasting {
		if len(conditionsOf(status, kind)) < len(conditionsOf(was, kind)) {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not remove a condition of type %q", kind)))
		}
	}
	for _, kind := range approvals {
		if subresource != "approval" && len(conditionsOf(status, kind)) > len(conditionsOf(was, kind)) {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not add a condition of type %q", kind)))
		}
	}
	return errs
}

// untrue are the mistakes of conditions that can only be true.
func untrue(path *field.Path, status map[string]any) (errs field.ErrorList) {
	list, _ := status["conditions"].([]any)
	for i, item := range list {
		c, _ := item.(map[string]any)
		said := object.TextAt(c, "status")
		if slices.Contains(lasting, certificatesv1.RequestConditionType(object.TextAt(c, "type"))) && (said == "False" || said == "Unknown") {
			errs = append(errs, field.NotSupported(path.Index(i).Child("status"), said, []string{"True"}))
		}
	}
	return errs
}

// lastApproval is the later one of the conditions that exclude each other.
func lastApproval(status map[string]any) (kind certificatesv1.RequestConditionType) {
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		switch t := certificatesv1.RequestConditionType(object.TextAt(c, "type")); t {
		case approvals[0], approvals[1]:
			kind = t
		}
	}
	return kind
}
