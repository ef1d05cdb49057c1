package policy

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/wasmgate/wasmgate/admission"
)

// Stage is the stage of the policies, of [Set.About], that may change a
// request.
func (d *Dispatcher) Stage(all []InForce[*Mutation], r *admission.Reinvocation) admission.Stage {
	return &stage{request: &request{Dispatcher: d, Attributes: r, round: r}, all: all}
}

// stage is a request on its way through the policies.
type stage struct {
	*request
	all   []InForce[*Mutation]
	again admission.Again[mutated]
	// done: a mutation was carried out in this round, whether it made a
	// difference or not. Then whoever wants to be asked again is, also about its
	// own work, as in kube-apiserver.
	done bool
}

// refused are the policies that refuse a request.
type refused struct {
	messages []string
	reason   metav1.StatusReason // the same of all
}

// relevant is a policy that is about a request.
type relevant struct {
	of *Mutation
	invocation
}

// Admit implements [admission.Stage].
func (s *stage) Admit(ctx context.Context, again bool) (err error) {
	defer recovered("MutatingAdmissionPolicy", &err)
	s.done = false
	s.again.Begin(s.round, again)
	defer s.again.End(s.round)
	var no, later refused
	// Which policies are about an object is found out before the first of them changes it.
	var all []relevant
	for _, one := range s.all {
		m := one.Policy
		err := m.each(ctx, s.request, one.Bindings, one.Params, func(i invocation) error {
			all = append(all, relevant{m, i})
			return nil
		}, func(f *fault) { no.add(m, f.binding, f, "") })
		if err != nil {
			return err
		}
	}
	for _, one := range all {
		if err := s.ask(ctx, one.of, one.invocation, func(err error) { later.add(one.of, one.binding, err, metav1.StatusReasonInvalid) }); err != nil {
			return err
		}
	}
	if s.done {
		s.again.Demand(s.round)
	}
	// What is wrong with a configuration comes first, as it is known first.
	switch {
	case len(no.messages)+len(later.messages) == 0:
		return nil
	case len(no.messages) == 0:
		no = later
	default:
		no.messages = append(no.messages, later.messages...)
	}
	return no.status(s.about(ctx))
}

// ask asks a policy with one binding and parameter. An error of a mutation goes
// to wrong; the others are tried all the same.
func (s *stage) ask(ctx context.Context, m *Mutation, i invocation, wrong func(error)) error {
	if err := s.place(ctx); err != nil {
		return err
	}
	if m.conditions != nil {
		a, err := s.see(ctx, i.version)
		if err != nil {
			wrong(err)
			return nil
		}
		result := m.conditions.Match(ctx, a.attributes, i.param, s.Authorizer)
		if result.Error != nil {
			wrong(result.Error)
		}
		if result.Error != nil || !result.Matches {
			return nil
		}
	}
	key := m.key(i)
	if !s.again.Asks(key) {
		return nil
	}
	ctx = m.compiler.CreateContext(ctx)
	before := s.round.Changes()
	for _, change := range m.changers {
		err := m.do(ctx, s.request, i, change)
		var status *apierrors.StatusError
		if errors.As(err, &status) {
			return status
		}
		if err != nil {
			wrong(err)
			continue
		}
		s.done = s.done || s.GetOperation() != admission.Delete
	}
	s.again.Asked(key, m.again, s.round.Changes() != before)
	return nil
}

func (r *refused) add(m *Mutation, b *Binding, cause error, reason metav1.StatusReason) {
	if m.ignores {
		return
	}
	who := fmt.Sprintf("%q", m.name)
	if b != nil {
		who = fmt.Sprintf("'%s' with binding '%s'", m.name, b.Name)
	}
	r.reason = reason
	r.messages = append(r.messages, fmt.Sprintf("policy %s denied request: %v", who, cause))
}

// status is the refusal as the client gets it.
func (r *refused) status(about apiserveradmission.Attributes) error {
	err := apiserveradmission.NewForbidden(about, errors.New(r.messages[0]))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	status.ErrStatus.Message = r.messages[0]
	if r.reason != "" {
		status.ErrStatus.Reason = r.reason
	}
	for _, m := range r.messages {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: m})
	}
	return status
}
