package extend

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
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
func validateEvent(_ string, e, _ *corev1.Event) field.ErrorList {
	return validateAnyEvent(e, "reportingComponent")
}

// validateAnyEvent checks what is checked at all versions; controller is what the
// field is called in messages.
func validateAnyEvent(e *corev1.Event, controller string) field.ErrorList {
	var errs field.ErrorList
	if e.EventTime.IsZero() {
		errs = validateOldEvent(e)
	} else {
		errs = validateNewEvent(e, controller)
	}
	for _, msg := range validation.IsDNS1123Subdomain(e.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("namespace"), e.Namespace, msg))
	}
	return errs
}

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

func validateNewEvent(e *corev1.Event, controller string) field.ErrorList {
	var errs field.ErrorList
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
		errs = wrongNamespace(e)
	}
	path := field.NewPath(controller)
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

// validateStrictEvent checks an event that is written by events.k8s.io.
func validateStrictEvent(_ string, e, old *corev1.Event) field.ErrorList {
	if old != nil {
		return validateStrictEventUpdate(e, old)
	}
	errs := validateAnyEvent(e, "reportingController")
	errs = append(errs, ValidateMeta(&e.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)...)
	errs = append(errs, validateSeries(e)...)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type)))
	}
	for _, old := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", !e.FirstTimestamp.IsZero()},
		{"lastTimestamp", !e.LastTimestamp.IsZero()},
		{"count", e.Count != 0},
		{"source", e.Source != corev1.EventSource{}},
	} {
		if old.set {
			errs = append(errs, field.Invalid(field.NewPath(old.name), "", "needs to be unset"))
		}
	}
	return errs
}

func validateSeries(e *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	if e.Series != nil && e.Series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if e.Series != nil && e.Series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// validateStrictEventUpdate checks an update by events.k8s.io, which may change
// nothing but metadata and the series.
func validateStrictEventUpdate(e, old *corev1.Event) field.ErrorList {
	errs := validateAnyEvent(e, "reportingController")
	errs = append(errs, validateMetaUpdate(&e.ObjectMeta, &old.ObjectMeta)...)
	if !reflect.DeepEqual(e.Series, old.Series) {
		errs = append(errs, validateSeries(e)...)
	}
	if sameMicrosecond(e.EventTime, old.EventTime) {
		e.EventTime = old.EventTime // clients cut off what is finer
	}
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", e.InvolvedObject, old.InvolvedObject},
		{"reason", e.Reason, old.Reason},
		{"message", e.Message, old.Message},
		{"source", e.Source, old.Source},
		{"firstTimestamp", e.FirstTimestamp, old.FirstTimestamp},
		{"lastTimestamp", e.LastTimestamp, old.LastTimestamp},
		{"count", e.Count, old.Count},
		{"reason", e.Reason, old.Reason},
		{"type", e.Type, old.Type},
		{"eventTime", e.EventTime, old.EventTime},
		{"action", e.Action, old.Action},
		{"related", e.Related, old.Related},
		{"reportingController", e.ReportingController, old.ReportingController},
		{"reportingInstance", e.ReportingInstance, old.ReportingInstance},
	} {
		errs = append(errs, apivalidation.ValidateImmutableField(f.now, f.was, field.NewPath(f.name))...)
	}
	return errs
}

func sameMicrosecond(a, b metav1.MicroTime) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}
