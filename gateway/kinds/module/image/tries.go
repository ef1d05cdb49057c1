package image

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// try is how it went the last time that an image was asked for.
type try struct {
	name   string
	wanted module.PulledImage // without digests
	secret string
	at     time.Time
	// kept is what came, until the object is seen to say so: nothing is fetched
	// again because somebody else wrote the object meanwhile, or because the
	// cache is behind.
	kept Kept
	// refusal is why nothing came, nil when it did. Then the next try is delay
	// after this one.
	refusal *Refusal
	delay   time.Duration
	// trusts is how often the policies of trust had changed before it.
	trusts int
}

// last is the last try for obj; known is false for none.
func (c *Controller) last(obj *unstructured.Unstructured) (last try, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known = c.tries[obj.GetUID()]
	return last, known
}

func (c *Controller) remember(obj *unstructured.Unstructured, t try) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries[obj.GetUID()] = t
}

// dropTries drops what is known of them, as the object says it, or wants no image.
func (c *Controller) dropTries(obj *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tries, obj.GetUID())
}

// forget drops what is known of a module that is gone.
func (c *Controller) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.tries, func(_ types.UID, t try) bool { return t.name == name })
}

// policies counts the changes of policies of trust.
func (c *Controller) policies() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trusts
}

// distrusted notes that policies changed, and names the modules that they refused.
func (c *Controller) distrusted() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trusts++
	for _, t := range c.tries {
		if t.refusal != nil && t.refusal.Distrusted {
			names = append(names, t.name)
		}
	}
	return names
}
