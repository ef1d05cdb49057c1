package admission

import (
	"context"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
)

// asked is a webhook that is asked about a request.
type asked struct {
	hook     *Hook
	version  string
	now, old []byte
	answer   *admissionv1.AdmissionResponse
	err      error
}

// Validate asks all webhooks that match, at the same time, and returns the
// refusal of the first that refuses. The hooks are those of [Set.About].
func Validate(ctx context.Context, hooks []*Hook, r *Request) error {
	var all []*asked
	encoded := map[string]*asked{}
	for _, h := range hooks {
		version, err := h.match(ctx, r)
		if err != nil {
			return err
		}
		if version == "" {
			continue
		}
		a := &asked{hook: h, version: version}
		if same := encoded[version]; same != nil {
			a.now, a.old = same.now, same.old
		} else if a.now, a.old, err = r.encode(ctx, version); err != nil {
			return err
		}
		encoded[version] = a
		all = append(all, a)
	}
	if len(all) > 0 && ctx.Err() != nil {
		return errTimeout()
	}
	askAll(ctx, r, all)
	var refused error
	for _, a := range all {
		if a.answer != nil {
			r.tell(a.answer)
		}
		if refused == nil {
			refused = a.err
		}
	}
	return refused
}

// askAll asks the last in place: the one, mostly.
func askAll(ctx context.Context, r *Request, all []*asked) {
	var wg sync.WaitGroup
	for i, a := range all {
		if i == len(all)-1 {
			a.ask(ctx, r)
			continue
		}
		wg.Go(func() { a.ask(ctx, r) })
	}
	wg.Wait()
}

func (a *asked) ask(ctx context.Context, r *Request) {
	defer func() {
		if p := recover(); p != nil {
			a.err = apierrors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", a.hook.Name, p))
		}
	}()
	begun, refused := time.Now(), false
	var err error
	if a.answer, err = a.hook.call(ctx, r, a.version, a.now, a.old); err == nil {
		err = a.hook.verdict(a.answer)
		refused = err != nil
	}
	r.observe(a.hook, begun, refused, err)
	if err != nil {
		a.err = a.hook.settle(ctx, r, err)
	}
}

// tell hands on the warnings of an answer.
func (r *Request) tell(a *admissionv1.AdmissionResponse) {
	for _, w := range a.Warnings {
		r.Warn(w)
	}
}

// encode are the states at a version as JSON, nil for none.
func (r *Request) encode(ctx context.Context, version string) (now, old []byte, err error) {
	tree, err := r.Objects.New(ctx, version)
	if err == nil && tree != nil {
		now, err = object.Encode(tree)
	}
	if err != nil {
		return nil, nil, err
	}
	if tree, err = r.Objects.Old(ctx, version); err == nil && tree != nil {
		old, err = object.Encode(tree)
	}
	return now, old, err
}
