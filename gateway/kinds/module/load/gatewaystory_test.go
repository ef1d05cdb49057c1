package load_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// shelf are contents of which those without a reference are removed, by one leader.
type shelf struct {
	content *memoryContent
	seat    *controllertest.Seat
}

func (s shelf) Digest(bytes []byte) string { return digest(string(bytes)) }

func (s shelf) Sweep(ctx context.Context, referenced func(context.Context) (map[string]bool, error)) (removed int, err error) {
	used, err := referenced(ctx)
	if err != nil {
		return 0, err
	}
	for _, d := range s.content.held() {
		if used[d] {
			continue
		}
		if err := s.seat.Meet(ctx, func() error { s.content.remove(d); return nil }); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// held are the digests of what is there, which two leaders may look at, one of them late.
func (c *memoryContent) held() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.blobs))
}

func (c *memoryContent) remove(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.blobs, digest)
}

// Contents that no module refers to go and no others, not those of a module of which the cache
// does not know yet either.
func TestContentsWhateverHappens(t *testing.T) {
	var w *moduleWorld
	uploads := func(t *testing.T) {
		changeModule(t, w, func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{module.ContentAnnotation: digest("new")})
		})
	}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			w = newModuleWorld()
			createModule(t, w, inlineSpec("good"))
			for _, bytes := range []string{"good", "new", "left"} {
				w.content.blobs[digest(bytes)] = []byte(bytes)
			}
			w.Hold(gvr.Modules)
			uploads(t)
			return w.Objects
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{load.NewCollector(s, shelf{w.content, s})}
		},
		Main: controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: func(t *testing.T, o *controllertest.Objects) {
			if err := o.Fresh(t.Context()); err != nil {
				t.Error(err)
			}
			uploads(t)
		},
		Outcome: func(*testing.T, *controllertest.Objects) string {
			var left []string
			for _, bytes := range w.content.blobs {
				left = append(left, string(bytes))
			}
			slices.Sort(left)
			return fmt.Sprint(left)
		},
		Want: "[good new]",
	}.Tell(t)
}

// occupied is the loader while its workers wait for modules that are compiled: of policies it
// hears nothing.
type occupied struct{ *load.Controller }

func (occupied) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Modules} }

// What is revoked serves no more, whatever happens meanwhile, without the loader.
func TestRevocationWhateverHappens(t *testing.T) {
	scene := newScene(t)
	var content *memoryContent
	var last *memoryModules
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			w := scene.world()
			content = w.content
			controllertest.MustCreate(t, w.Objects, gvr.Modules, scene.module())
			time.AfterFunc(time.Minute, func() {
				if last.setCalls() == 0 {
					t.Error("it never served")
				}
				controllertest.MustCreate(t, w.Objects, gvr.Trusts, trustOf("two", tree{"revokedDigests": []any{digest(string(scene.content))}}))
			})
			return w.Objects
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			last = &memoryModules{serving: map[string]plugins.Revision{}}
			loader := load.New(s, last, content, trust.New(s))
			return []controller.Controller{occupied{loader}, load.Revocation{Controller: loader}}
		},
		Main: controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Outcome: func(*testing.T, *controllertest.Objects) string {
			_, serves := last.get("tabs")
			return fmt.Sprint("serves: ", serves)
		},
		Want: "serves: false",
	}.Tell(t)
}
