// Package image owns the WasmModules whose bytes come from a registry: it lets
// the image that one names be fetched, keeps the module, and notes its digest in
// the status, from which every gateway loads it as one that was uploaded.
//
// It must not know how registries are spoken to, nor how a module is loaded.
package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// Objects are modules and secrets as the controller uses them.
type Objects interface {
	client.Getter
	client.Updater
}

// Kept is a module of an image that is in the store.
type Kept struct {
	// Manifest is the digest of the image, Digest the module's.
	Manifest, Digest string
	// Mirror is where it came from, "" for the registry that the image names.
	Mirror string
	// Beside vouches for it; nil for nothing.
	Beside *module.Beside
}

// Puller brings the module of an image into the store, unless it can never be
// used. login is the text of a docker config file, nil for none. The error is a
// *[Refusal] unless ctx has ended; the caller bounds the time.
type Puller interface {
	Pull(ctx context.Context, name, image string, login []byte) (Kept, error)
}

// Refusal is why an image did not come.
type Refusal struct {
	// Reason and Message are those of the condition.
	Reason, Message string
	// Final tells that another try brings the same.
	Final bool
	// Slow tells that the registry took as long as it may.
	Slow bool
	// Distrusted tells that it came, and the policies of trust do not let it serve.
	Distrusted bool
}

// Error is the reason and the message.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Message }

const (
	// pullTimeout bounds one try. It is a third of the time for which the store
	// keeps what nothing refers to yet.
	pullTimeout = module.ContentGrace / 3
	// After a failure there is another try, after a delay that doubles.
	firstDelay, lastDelay = 2 * time.Second, 5 * time.Minute
	// workers is how many images are fetched at a time, at 64 MiB each.
	workers = 4
	// turnDelay is how often an image is looked at whose registry has to wait for
	// others.
	turnDelay = 5 * time.Second
	// maxSlow is how many registries are remembered to be slow.
	maxSlow = 1000
)

// Controller pulls images. It runs in one gateway.
type Controller struct {
	objects Objects
	puller  Puller
	now     func() time.Time

	mu    sync.Mutex
	tries map[types.UID]try // guarded by mu: of modules that do not say what came
	slow  map[string]bool   // guarded by mu: registries that took as long as they may
	lane  bool              // guarded by mu: one of these is being asked
	// trusts counts the changes of policies of trust.
	trusts int // guarded by mu
}

// New returns the controller.
func New(objects Objects, puller Puller) *Controller {
	return &Controller{objects: objects, puller: puller, now: time.Now, tries: map[types.UID]try{}, slow: map[string]bool{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-images" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Modules, gvr.Trusts}
}

// Workers implements [controller.Concurrent].
func (c *Controller) Workers() int { return workers }

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource == gvr.Trusts {
		for _, name := range c.distrusted() {
			q.Add(controller.Key{GroupResource: gvr.Modules, Name: name})
		}
		return nil
	}
	obj, err := c.objects.Get(ctx, gvr.Modules, "", key.Name)
	if apierrors.IsNotFound(err) {
		c.forget(key.Name)
		return nil
	}
	if err != nil {
		return err
	}
	image, ok := module.Image(obj)
	if !ok {
		c.dropTries(obj)
		return c.withdraw(ctx, obj)
	}
	wanted := module.PulledImage{Image: image, Attempt: obj.GetAnnotations()[module.RetryAnnotation]}
	if pulled, ok := module.PulledOf(obj); !ok || pulled.Image != wanted.Image || pulled.Attempt != wanted.Attempt {
		wait := time.Duration(0)
		if obj, wait, err = c.pull(ctx, obj, wanted); err != nil {
			return gvr.IgnoreNotFound(err)
		}
		if wait > 0 {
			q.AddAfter(key, wait)
		}
	} else {
		c.dropTries(obj)
	}
	return gvr.IgnoreNotFound(c.report(ctx, obj))
}

// pull tries to bring the wanted image, unless it is known to fail or too early
// for another try, and returns the object as it is then. wait is when to come
// again, 0 for not.
func (c *Controller) pull(ctx context.Context, obj *unstructured.Unstructured, wanted module.PulledImage) (_ *unstructured.Unstructured, wait time.Duration, err error) {
	t := try{name: obj.GetName(), wanted: wanted, secret: module.PullSecret(obj).String(), delay: firstDelay, trusts: c.policies()}
	if last, known := c.last(obj); known && last.wanted.Image == wanted.Image && last.wanted.Attempt == wanted.Attempt && last.secret == t.secret {
		switch left := last.at.Add(last.delay).Sub(c.now()); {
		case last.refusal == nil && c.now().Sub(last.at) < pullTimeout: // the store has it still
			obj, err = c.note(ctx, obj, wanted, last.kept)
			return obj, 0, err
		case last.refusal == nil: // by now it may not
		case last.refusal.Final:
			return obj, 0, nil
		case last.refusal.Distrusted && last.trusts != t.trusts: // which may let it serve by now
		case left > 0:
			return obj, left, nil
		default:
			t.delay = min(2*last.delay, lastDelay)
		}
	}
	leave, ok := c.enter(hostOf(wanted.Image))
	if !ok {
		return obj, turnDelay, nil
	}
	defer leave()
	t.kept, err = c.fetch(ctx, obj.GetName(), wanted.Image, module.PullSecret(obj))
	t.at = c.now()
	if errors.As(err, &t.refusal) {
		c.remember(obj, t)
		if t.refusal.Final {
			return obj, 0, nil
		}
		if t.refusal.Distrusted && t.trusts != c.policies() { // they changed meanwhile
			return obj, min(t.delay, firstDelay), nil
		}
		return obj, t.delay, nil
	}
	if err != nil {
		return nil, 0, err
	}
	c.remember(obj, t)
	obj, err = c.note(ctx, obj, wanted, t.kept)
	return obj, 0, err
}

// fetch asks for the image with the credentials that the module names.
func (c *Controller) fetch(ctx context.Context, name, image string, secret types.NamespacedName) (Kept, error) {
	var login []byte
	if secret.Name != "" {
		var err error
		if login, err = c.login(ctx, secret); err != nil {
			return Kept{}, err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	kept, err := c.puller.Pull(bounded, name, image, login)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		kept, err = Kept{}, &Refusal{Reason: "PullFailed", Message: fmt.Sprintf("it did not come within %s", pullTimeout), Slow: true}
	}
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) || err == nil {
		c.judge(hostOf(image), refusal)
	}
	return kept, err
}

// note writes into the status what the image is.
func (c *Controller) note(ctx context.Context, obj *unstructured.Unstructured, pulled module.PulledImage, kept Kept) (*unstructured.Unstructured, error) {
	before, _ := module.PulledOf(obj)
	pulled.Mirror = kept.Mirror
	inUse := []string{module.StatusOf(obj).Digest}
	if k := module.StatusOf(obj).KeptOf(obj); k != nil {
		inUse = append(inUse, k.Digest)
	}
	pulled.Manifest, pulled.Digest, pulled.Beside = kept.Manifest, kept.Digest, kept.Beside.Remembering(before.Beside, inUse...)
	if err := module.SetPulled(obj, pulled); err != nil {
		return nil, err
	}
	return c.objects.Update(ctx, gvr.Modules, "status", obj)
}

// report sets the condition to what is known.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured) error {
	condition := metav1.Condition{Type: module.Pulled, ObservedGeneration: obj.GetGeneration()}
	if t, known := c.last(obj); known && t.refusal != nil {
		condition.Status, condition.Reason = metav1.ConditionFalse, t.refusal.Reason
		condition.Message = t.wanted.Image + ": " + strings.TrimPrefix(t.refusal.Message, t.wanted.Image+": ") // which registries' words may begin with
		if !t.refusal.Final {
			condition.Message += "; it is tried again"
		}
	} else if pulled, ok := module.PulledOf(obj); ok {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Pulled"
		condition.Message = fmt.Sprintf("%s is %s, its module %s", pulled.Image, pulled.Manifest, pulled.Digest)
		if pulled.Mirror != "" {
			condition.Message += ", from the mirror " + pulled.Mirror
		}
	} else {
		return nil
	}
	condition.Message = gvr.Shorten(condition.Message)
	return c.setConditions(ctx, obj, func(all []metav1.Condition) []metav1.Condition {
		meta.SetStatusCondition(&all, condition)
		return all
	})
}

// withdraw removes the condition of a module whose bytes come from elsewhere.
func (c *Controller) withdraw(ctx context.Context, obj *unstructured.Unstructured) error {
	return gvr.IgnoreNotFound(c.setConditions(ctx, obj, func(all []metav1.Condition) []metav1.Condition {
		return slices.DeleteFunc(all, func(c metav1.Condition) bool { return c.Type == module.Pulled })
	}))
}

// setConditions writes the conditions if change changes them.
func (c *Controller) setConditions(ctx context.Context, obj *unstructured.Unstructured, change func([]metav1.Condition) []metav1.Condition) error {
	changed, err := gvr.ChangeConditions(obj, change)
	if err != nil || !changed {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Modules, "status", obj)
	return err
}
