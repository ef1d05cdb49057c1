package builtin

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The most characters that new-style events may have in these fields.
const (
	maxEventShort   = 128
	maxEventMessage = 1024
)

// validateEvent checks an event of core/v1, where only events that carry an
// eventTime are held to the newer rules.
func validateEvent(e *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	if e.EventTime.IsZero() {
		errs = validateOldEvent(e)
	} else {
		errs = validateNewEvent(e)
	}
	for _, msg := range validation.IsDNS1123Subdomain(e.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("namespace"), e.Namespace, msg))
	}
	return errs
}

func validateEventUpdate(e, _ *corev1.Event) field.ErrorList { return validateEvent(e) }

func wrongNamespace(e *corev1.Event) field.ErrorList {
	path := field.NewPath("involvedObject", "namespace")
	return field.ErrorList{field.Invalid(path, e.InvolvedObject.Namespace, "does not match event.namespace")}
}

func validateOldEvent(e *corev1.Event) field.ErrorList {
	ns := e.InvolvedObject.Namespace
	// Events about cluster-scoped objects live in the default namespace.
	clusterScoped := ns == "" && (e.Namespace == "" || e.Namespace == metav1.NamespaceDefault)
	if clusterScoped || ns != "" && ns == e.Namespace {
		return nil
	}
	return wrongNamespace(e)
}

func validateNewEvent(e *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
		errs = wrongNamespace(e)
	}
	path := field.NewPath("reportingComponent")
	if e.ReportingController == "" {
		errs = append(errs, field.Required(path, ""))
	}
	for _, msg := range validation.IsQualifiedName(e.ReportingController) {
		errs = append(errs, field.Invalid(path, e.ReportingController, msg))
	}
	for _, f := range []struct{ name, value string }{
		{"reportingInstance", e.ReportingInstance},
		{"action", e.Action},
		{"reason", e.Reason},
	} {
		if f.value == "" {
			errs = append(errs, field.Required(field.NewPath(f.name), ""))
		}
		errs = append(errs, validateLength(f.name, f.value, maxEventShort)...)
	}
	return append(errs, validateLength("message", e.Message, maxEventMessage)...)
}

func validateLength(name, value string, most int) field.ErrorList {
	if len(value) <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %v characters", most))}
}
