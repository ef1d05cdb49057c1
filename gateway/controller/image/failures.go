package image

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// failure is how it went the last time that the image of obj was pulled; ok is
// false when it came.
func (c *Controller) failure(obj *unstructured.Unstructured) (f failure, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok = c.failures[obj.GetUID()]
	return f, ok
}

func (c *Controller) failed(obj *unstructured.Unstructured, f failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures[obj.GetUID()] = f
}

func (c *Controller) succeeded(obj *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.failures, obj.GetUID())
}

// forget drops what is known of a module that is gone.
func (c *Controller) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.failures, func(_ types.UID, f failure) bool { return f.name == name })
}
