package namespace

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Memory is which namespaces were let go and are still to be looked at again,
// kept where the next leader finds it.
type Memory interface {
	// Keep remembers a name; twice is as good as once.
	Keep(ctx context.Context, name string) error
	// Kept returns all names.
	Kept(ctx context.Context) ([]string, error)
	// Drop forgets a name, if it is remembered.
	Drop(ctx context.Context, name string) error
}

// stragglerChecks is when to look again for objects in a namespace that is
// gone. A create that passed the check for its namespace before the deletion
// was visible to it can commit up to a request's length later; nothing else
// would ever find that object.
var stragglerChecks = []time.Duration{5 * time.Second, 60 * time.Second}

// Work implements [controller.Working]: what the leader before had still to look
// at is looked at as if it had been let go now.
func (c *Finalizer) Work(ctx context.Context, q controller.Queue) error {
	names, err := c.memory.Kept(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		c.lookAgain(q, controller.Key{GroupResource: gvr.Namespaces, Name: name}, 0)
	}
	<-ctx.Done()
	return nil
}

// next is the check that is next for a namespace, and not due before a time.
type next struct {
	check int
	due   time.Time
}

// lookAgain asks for the check with a number.
func (c *Finalizer) lookAgain(q controller.Queue, key controller.Key, check int) {
	after := stragglerChecks[check]
	c.mu.Lock()
	c.gone[key.Name] = next{check, time.Now().Add(after)}
	c.mu.Unlock()
	q.AddAfter(key, after)
}

// stragglers deletes what was created in a namespace that is gone.
func (c *Finalizer) stragglers(ctx context.Context, q controller.Queue, key controller.Key) error {
	c.mu.Lock()
	now, ok := c.gone[key.Name]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	if early := time.Until(now.due); early > 0 { // something else happened to it
		q.AddAfter(key, early)
		return nil
	}
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	found, err := c.everything(ctx, key.Name)
	if err != nil {
		return err
	}
	// Only after the lists: if there is no namespace now, then what was listed
	// cannot belong to a new one of the same name.
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	if now, err := c.objects.Get(ctx, gvr.Namespaces, "", key.Name); err == nil {
		if now.GetDeletionTimestamp() != nil {
			c.lookAgain(q, key, 0)
			return nil
		}
		return c.forget(ctx, key.Name)
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	errs := found.failures
	errs = append(errs, found.delete(ctx)...)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if now.check+1 == len(stragglerChecks) {
		return c.forget(ctx, key.Name)
	}
	c.lookAgain(q, key, now.check+1)
	return nil
}

// forget ends the checks of a namespace.
func (c *Finalizer) forget(ctx context.Context, name string) error {
	c.mu.Lock()
	_, ok := c.gone[name]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	if err := c.memory.Drop(ctx, name); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.gone, name)
	return nil
}
