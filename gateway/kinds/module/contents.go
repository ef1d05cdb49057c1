package module

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

const (
	// ContentGrace is how long content is kept that nothing refers to. Who
	// stores content has to write the reference in less.
	ContentGrace = 15 * time.Minute
	// sweepInterval is how often contents are looked at.
	sweepInterval = 5 * time.Minute
)

// Contents are all contents that are stored.
type Contents interface {
	// Sweep removes contents that were without a reference for ContentGrace.
	// referenced returns the digests that are referred to at that time.
	Sweep(ctx context.Context, referenced func(ctx context.Context) (map[string]bool, error)) (removed int, err error)
	// Digest is the digest that bytes are stored under.
	Digest(bytes []byte) string
}

// Collector removes contents that no module refers to any more: after another
// upload, or when a module was deleted. It runs in one gateway.
type Collector struct {
	objects  Lister
	contents Contents
}

// NewCollector returns the controller.
func NewCollector(objects Lister, contents Contents) *Collector {
	return &Collector{objects: objects, contents: contents}
}

// Name implements [controller.Controller].
func (c *Collector) Name() string { return "module-contents" }

// Watches implements [controller.Controller].
func (c *Collector) Watches() []schema.GroupResource { return nil }

// Seeds implements [controller.Seeded]: all contents are looked at together.
func (c *Collector) Seeds() []controller.Key {
	return []controller.Key{{GroupResource: gvr.Modules}}
}

// Resync implements [controller.Resyncing].
func (c *Collector) Resync() time.Duration { return sweepInterval }

// Reconcile implements [controller.Controller].
func (c *Collector) Reconcile(ctx context.Context, _ controller.Queue, _ controller.Key) error {
	_, err := c.contents.Sweep(ctx, c.referenced)
	if err != nil {
		return fmt.Errorf("collect contents of modules: %w", err)
	}
	return nil
}

// referenced returns all digests that modules refer to: what was uploaded,
// what is in the spec, what serves or served last, and the history.
func (c *Collector) referenced(ctx context.Context) (map[string]bool, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	modules, err := c.objects.List(ctx, gvr.Modules, "")
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, obj := range modules {
		for _, digest := range Digests(obj, c.contents.Digest) {
			used[digest] = true
		}
	}
	return used, nil
}

// Digests returns the digests of all contents that a module refers to: what is
// asked for first, then what serves or served last, then the history. The same
// digest may occur several times. digest makes one of bytes.
func Digests(obj *unstructured.Unstructured, digest func(bytes []byte) string) []string {
	upload, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "source", "upload")
	all := []string{PinnedDigest(upload), obj.GetAnnotations()[ContentAnnotation]}
	inline, _, _ := unstructured.NestedString(obj.Object, "spec", "source", "inline")
	if bytes, err := base64.StdEncoding.DecodeString(inline); err == nil && inline != "" {
		all = append(all, digest(bytes))
	}
	if pulled, ok := PulledOf(obj); ok {
		all = append(all, pulled.Digest)
	}
	serves, _, _ := unstructured.NestedString(obj.Object, "status", "digest")
	all = append(all, serves)
	if kept := readStatus(obj).kept(obj); kept != nil {
		all = append(all, kept.Digest)
	}
	history, _, _ := unstructured.NestedSlice(obj.Object, "status", "revisions")
	for _, r := range history {
		if r, ok := r.(map[string]any); ok {
			digest, _ := r["digest"].(string)
			all = append(all, digest)
		}
	}
	return slices.DeleteFunc(all, func(d string) bool { return d == "" })
}
