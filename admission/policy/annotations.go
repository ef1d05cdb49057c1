package policy

import (
	"encoding/json"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"

	celtypes "github.com/google/cel-go/common/types"
)

const (
	// failureKey is the annotation of what a binding wants audited.
	failureKey = "validation.policy.admission.k8s.io/validation_failure"
	// maxAnnotation is the longest value of a policy's annotation, in bytes, and
	// maxFailures how many failures are told of, as in kube-apiserver.
	maxAnnotation = 10 << 10
	maxFailures   = 50
)

// failure is a validation that is not met, as it is audited.
type failure struct {
	Message           string                         `json:"message"`
	Policy            string                         `json:"policy"`
	Binding           string                         `json:"binding"`
	ExpressionIndex   int                            `json:"expressionIndex"`
	ValidationActions []admissionv1.ValidationAction `json:"validationActions"`
}

// audited is what policies want to be known of a request.
type audited struct {
	failures []failure
	// values are those of one policy's annotations.
	values map[string][]string
}

// note notes the values of a policy's annotations with one binding and parameter.
func (a *audited) note(keys []string, results []admissioncel.EvaluationResult) {
	for n, r := range results {
		if r.Error != nil || r.EvalResult == nil || r.EvalResult.Type() != celtypes.StringType || n >= len(keys) {
			continue
		}
		text, _ := r.EvalResult.Value().(string)
		text = strings.TrimSpace(text)
		text = text[:min(len(text), maxAnnotation)]
		if text == "" || slices.Contains(a.values[keys[n]], text) {
			continue
		}
		if a.values == nil {
			a.values = map[string][]string{}
		}
		a.values[keys[n]] = append(a.values[keys[n]], text)
	}
}

// publish annotates a request with what a policy says of it.
func (a *audited) publish(policy string, annotate func(key, value string)) {
	for key, values := range a.values {
		text := strings.Join(values, ", ")
		annotate(policy+"/"+key, text[:min(len(text), maxAnnotation)])
	}
	a.values = nil
}

// end annotates a request with the failures that bindings want audited.
func (a *audited) end(annotate func(key, value string)) {
	if len(a.failures) == 0 {
		return
	}
	text, err := json.Marshal(a.failures[:min(len(a.failures), maxFailures)])
	if err == nil { // it always is
		annotate(failureKey, string(text))
	}
}
