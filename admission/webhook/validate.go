package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
)

// asked is a webhook that is asked about a request.
type asked struct {
	hook     *Hook
	version  string
	now, old []byte
	answer   *admissionv1.AdmissionResponse
	by       string // the digest of the module that answered
	err      error
	ignored  error
}

// Validate asks all webhooks that match, at the same time, and returns the
// refusal of the first that refuses. The hooks are those of [Set.About].
func (d *Dispatcher) Validate(ctx context.Context, hooks []*Hook, a admission.Attributes) error {
	r := &dispatch{Dispatcher: d, Attributes: a}
	var all []*asked
	encoded := map[string]*asked{}
	for _, h := range hooks {
		version, err := h.match(ctx, a, d.Authorizer)
		if err != nil {
			return err
		}
		if version == "" {
			continue
		}
		one := &asked{hook: h, version: version}
		if same := encoded[version]; same != nil {
			one.now, one.old = same.now, same.old
		} else if one.now, one.old, err = r.encode(ctx, version); err != nil {
			return err
		}
		encoded[version] = one
		all = append(all, one)
	}
	if len(all) > 0 && ctx.Err() != nil {
		return errTimeout()
	}
	began := time.Now()
	askAll(ctx, r, all)
	r.Waited(time.Since(began))
	var refused error
	any, _ := r.Annotates()
	for i, one := range all {
		if one.answer != nil {
			r.tell(one.hook, one.answer)
		}
		if any {
			r.by(ctx, place{0, i}.key(validatedByKey), one.hook, one.by)
		}
		if one.ignored != nil {
			r.open(openValidatingKey, one.hook, place{0, i}, one.ignored)
		}
		if refused == nil {
			refused = one.err
		}
	}
	return refused
}

// askAll asks the last in place: the one, mostly.
func askAll(ctx context.Context, r *dispatch, all []*asked) {
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

func (a *asked) ask(ctx context.Context, r *dispatch) {
	defer func() {
		if p := recover(); p != nil {
			a.err = apierrors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", a.hook.Name, p))
		}
	}()
	begun, refused := time.Now(), false
	var err error
	if a.answer, a.by, err = a.hook.call(ctx, r, a.version, a.now, a.old); err == nil {
		err = a.hook.verdict(a.answer)
		refused = err != nil
	}
	r.observe(a.hook, begun, refused, err)
	if err != nil {
		a.err, a.ignored = a.hook.applyFailurePolicy(ctx, r, err)
	}
}
