package load

import (
	"context"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// maxEvidence is of how many contents of a module the evidence is kept.
const maxEvidence = 4

// saw keeps what a revision says of itself, whose bytes are there and have its digest.
func (m *loaded) saw(c *Controller, rev plugins.Revision) {
	if m.evidenceOf(c, rev.Digest) != nil {
		return
	}
	serving, e := c.serving(m.name).Digest(), trust.Examine(rev.Digest, rev.Bytes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(m.evidence) >= maxEvidence {
		maps.DeleteFunc(m.evidence, func(digest string, _ *trust.Evidence) bool { return digest != serving })
	}
	m.evidence[rev.Digest] = e
}

func (m *loaded) evidenceOf(c *Controller, digest string) *trust.Evidence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.evidence[digest]
}

// judge is what the policies in force say of content that was seen; nothing of other.
func (c *Controller) judge(ctx context.Context, obj *unstructured.Unstructured, m *loaded, digest string) trust.Verdict {
	e := m.evidenceOf(c, digest)
	if e == nil {
		return trust.Verdict{}
	}
	return c.trust.Judge(ctx, trust.SubjectOf(obj), e)
}

// verdicts are what they say of the newest content, and who vouches for what serves.
func (c *Controller) verdicts(ctx context.Context, obj *unstructured.Unstructured, m *loaded, wanted *plugins.Revision, serving string) (newest trust.Verdict, signers []module.Signer, judged bool) {
	if wanted != nil {
		newest, judged = c.judge(ctx, obj, m, wanted.Digest), m.evidenceOf(c, wanted.Digest) != nil
	}
	if !judged {
		newest.Policies = c.trust.Count(ctx)
	}
	return newest, c.judge(ctx, obj, m, serving).Signers, judged
}

// distrust lets what serves serve no more if the policies in force do not let it. It is
// looked for again as what served before the start is.
func (c *Controller) distrust(ctx context.Context, obj *unstructured.Unstructured, m *loaded) {
	c.withdrawUntrusted(ctx, obj, m)
	c.mu.Lock()
	defer c.mu.Unlock()
	m.restored = m.restored && !m.withdrawn
	m.withdrawn = false
}

func (c *Controller) withdrawUntrusted(ctx context.Context, obj *unstructured.Unstructured, m *loaded) {
	serving := c.serving(m.name).Serving
	if serving == nil {
		return
	}
	if v := c.judge(ctx, obj, m, serving.Digest); v.Refused != nil {
		c.modules.Withdraw(m.name, v.LoadError(m.name))
		c.mu.Lock()
		defer c.mu.Unlock()
		m.withdrawn = true
	}
}

// matters reports whether a change of an object that is no module may be one of trust.
func (c *Controller) matters(ctx context.Context, key controller.Key) bool {
	return key.GroupResource == gvr.Trusts || c.trust.ByDefinition(ctx, key.Name)
}

// lookAgain has all modules looked at.
func (c *Controller) lookAgain(q controller.Queue) {
	for _, name := range c.names() {
		q.Add(controller.Key{GroupResource: gvr.Modules, Name: name})
	}
}

func (c *Controller) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.loaded))
}

// Work implements [controller.Working]: it looks at all modules when another file of
// policies is in force.
func (c *Controller) Work(ctx context.Context, q controller.Queue) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.trust.Changed():
			_ = c.withdraw(ctx) // what could not be read is looked at again with all others
			c.lookAgain(q)
		}
	}
}

// withdraw lets whatever serves and is not trusted serve no more. It fails where a module
// could not be read, after all others.
func (c *Controller) withdraw(ctx context.Context) error {
	var failed []error
	for _, name := range c.names() {
		obj, err := c.objects.Get(ctx, gvr.Modules, "", name)
		if err != nil {
			failed = append(failed, gvr.IgnoreNotFound(err))
			continue
		}
		c.mu.Lock()
		m := c.loaded[name]
		c.mu.Unlock()
		if m != nil && m.uid == obj.GetUID() {
			c.withdrawUntrusted(ctx, obj, m)
		}
	}
	return errors.Join(failed...)
}

// Revocation has what a policy refuses serve no more at once, also while the workers of
// the [Controller] wait for modules that are compiled. Every gateway runs it.
type Revocation struct{ *Controller }

// Name implements [controller.Controller].
func (Revocation) Name() string { return "module-trust" }

// Watches implements [controller.Controller].
func (Revocation) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Trusts, gvr.Definitions}
}

// Workers implements [controller.Concurrent].
func (Revocation) Workers() int { return 1 }

// Work implements [controller.Working]: it has none.
func (Revocation) Work(ctx context.Context, _ controller.Queue) error {
	<-ctx.Done()
	return ctx.Err()
}

// Reconcile implements [controller.Controller].
func (r Revocation) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	if !r.matters(ctx, key) {
		return nil
	}
	return r.withdraw(ctx)
}
