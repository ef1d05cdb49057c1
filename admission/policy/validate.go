package policy

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/wasmgate/wasmgate/admission"
)

// refusal is a decision that is enforced.
type refusal struct {
	policy, binding string // binding is "" for what is wrong with the policy
	decision
}

// Validate asks the policies of [Set.About], and returns the first refusal in
// their order.
func (d *Dispatcher) Validate(ctx context.Context, all []InForce[*Validation], a admission.Attributes) (err error) {
	defer recovered("ValidatingAdmissionPolicy", &err)
	q := &request{Dispatcher: d, Attributes: a}
	var refused []refusal
	for _, one := range all {
		v := one.Policy
		err := v.each(ctx, q, one.Bindings, one.Params, func(i invocation) error {
			return v.ask(ctx, q, i, &refused)
		}, func(f *fault) {
			if v.ignores {
				return
			}
			no := refusal{policy: v.name, decision: decision{message: f.Error()}}
			if f.binding != nil {
				no.binding = f.binding.Name
			}
			refused = append(refused, no)
		})
		if err != nil {
			return err
		}
		q.audited.publish(v.name, q.Annotate)
	}
	q.audited.end(q.Annotate)
	if len(refused) == 0 {
		return nil
	}
	return refused[0].status(q.about(ctx))
}

// recovered makes an error of a panic: what policies evaluate is written by
// others.
func recovered(what string, err *error) {
	if p := recover(); p != nil {
		*err = apierrors.NewInternalError(fmt.Errorf("%s has panicked: %v", what, p))
	}
}

// ask asks a policy with one binding and parameter, and does what the binding
// wants of the decisions.
func (v *Validation) ask(ctx context.Context, q *request, i invocation, refused *[]refusal) error {
	if err := q.place(ctx); err != nil {
		return err
	}
	var all []decision
	if a, err := q.see(ctx, i.version); err != nil {
		d := v.failure(&fault{i.binding, err})
		d.always = true // it is about the request, of which the binding knows nothing
		all = []decision{d}
	} else {
		all = v.judge(ctx, q, a, i)
	}
	for n, d := range all {
		seen := Decision{Policy: v.name, Binding: i.binding.Name, Enforcement: Allowed, Error: errorOf(d.cause), Elapsed: d.elapsed}
		if !d.denies {
			if d.cause != nil { // what is simply right is not told of
				q.Observe(seen)
			}
			continue
		}
		actions := i.binding.actions
		if d.always {
			actions = []admissionv1.ValidationAction{admissionv1.Deny}
		}
		for _, action := range actions {
			switch action {
			case admissionv1.Deny:
				seen.Enforcement = Denied
				*refused = append(*refused, refusal{v.name, i.binding.Name, d})
			case admissionv1.Warn:
				seen.Enforcement = Warned
				q.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", v.name, i.binding.Name, d.message))
			case admissionv1.Audit:
				seen.Enforcement = Audited
				q.audited.failures = append(q.audited.failures, failure{d.message, v.name, i.binding.Name, n, actions})
			}
			q.Observe(seen)
		}
	}
	return nil
}

// status is the refusal as the client gets it.
func (r refusal) status(about apiserveradmission.Attributes) error {
	with := ""
	if r.binding != "" {
		with = fmt.Sprintf(" with binding '%s'", r.binding)
	}
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s'%s denied request: %s", r.policy, with, r.message)
	err := apiserveradmission.NewForbidden(about, errors.New(message))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	status.ErrStatus.Reason, status.ErrStatus.Code = r.reason, codeOf(r.reason)
	if r.reason == "" {
		status.ErrStatus.Reason = metav1.StatusReasonInvalid
	}
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return status
}

func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}
