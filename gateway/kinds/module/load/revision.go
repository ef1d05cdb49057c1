package load

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// load makes the revision that obj asks for serve. A problem is for the
// status; an error besides means that another try may help.
func (c *Controller) load(ctx context.Context, obj *unstructured.Unstructured, m *loaded, rev *plugins.Revision) (*module.Refusal, error) {
	if serving := c.serving(obj.GetName()).Serving; serving != nil && serving.Same(*rev) {
		return nil, c.store(ctx, m, rev)
	}
	if held := c.hold(obj, *rev); held != nil {
		return held, nil
	}
	identity := module.Identity(*rev)
	if m.refused == identity {
		if problem, err := c.refusedBefore(ctx, obj, m); problem != nil || err != nil {
			return problem, err
		}
	}
	if refused := c.judge(ctx, obj, m, rev.Digest).Refused; refused != nil {
		return refused, nil
	}
	if problem := m.late.paused(c.now(), identity); problem != nil {
		return problem, nil
	}
	if problem, err := c.fetch(ctx, obj, m, rev); problem != nil || err != nil {
		return problem, err
	}
	m.saw(c, *rev)
	if refused := c.judge(ctx, obj, m, rev.Digest).Refused; refused != nil {
		return refused, nil
	}
	if unproved, err := c.unproved(ctx, obj, *rev); unproved != nil || err != nil {
		return unproved, err
	}
	var late takeover
	rev.Consent = c.consents(ctx, obj, m, *rev, &late)
	problem, err := c.set(ctx, obj.GetName(), *rev)
	isLate := m.late.note(c.now(), identity, problem)
	switch {
	case problem == nil && err == nil:
		return nil, c.store(ctx, m, rev)
	case late.unproved != nil:
		return late.unproved, nil
	case late.distrusted:
		return problem, err
	case err == nil && !isLate:
		m.refused, m.refusedFor, m.has = identity, problem, late.has
	}
	m.tried(obj, *rev, err == nil && plugins.LoadReason(problem.Reason).Final())
	return problem, err
}

// takeover is why a revision that was loaded does not take over.
type takeover struct {
	unproved   *module.Refusal
	distrusted bool
	has        []plugins.Hook // what it has, where that is why
}

// consents is asked when a revision is loaded: since that began, policies and
// definitions may have changed.
func (c *Controller) consents(ctx context.Context, obj *unstructured.Unstructured, m *loaded, rev plugins.Revision, late *takeover) func([]plugins.Hook) error {
	return func(hooks []plugins.Hook) error {
		if v := c.judge(ctx, obj, m, rev.Digest); v.Refused != nil {
			late.distrusted = true
			return v.LoadError(obj.GetName())
		}
		unproved, err := c.stillProved(ctx, obj, rev)
		if err != nil {
			return err
		}
		if late.unproved = unproved; unproved != nil {
			return errors.New(unproved.Message)
		}
		if err = c.consent(ctx, obj, hooks); err != nil {
			late.has = hooks
		}
		return err
	}
}

// fetch gives a revision its bytes.
func (c *Controller) fetch(ctx context.Context, obj *unstructured.Unstructured, m *loaded, rev *plugins.Revision) (*module.Refusal, error) {
	if rev.Bytes != nil {
		return nil, nil
	}
	var err error
	switch rev.Bytes, err = c.content.Get(ctx, rev.Digest); {
	case errors.Is(err, module.ErrNoContent):
		m.tried(obj, *rev, !module.Promotes(obj))
		return &module.Refusal{Reason: "ContentMissing", Message: fmt.Sprintf("content %s is not in the store; %s", rev.Digest, missingHint(obj)), Expected: !served(obj, rev.Digest)}, err
	case errors.Is(err, module.ErrContentDamaged):
		m.tried(obj, *rev, !module.Promotes(obj))
		return &module.Refusal{Reason: "ContentDamaged", Message: fmt.Sprintf("content %s is not what was stored; %s", rev.Digest, missingHint(obj))}, err
	}
	return nil, err
}

// store keeps the bytes of a good inline revision for the time when the object
// holds others, bad ones.
func (c *Controller) store(ctx context.Context, m *loaded, rev *plugins.Revision) error {
	if wantsUpload := rev.Bytes == nil; wantsUpload || m.stored == rev.Digest {
		m.unkept = ""
		return nil
	}
	err := c.content.Put(ctx, rev.Bytes)
	if errors.Is(err, module.ErrNoRoom) {
		m.unkept = err.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep content %s: %w", rev.Digest, err)
	}
	m.stored, m.unkept = rev.Digest, ""
	return nil
}
