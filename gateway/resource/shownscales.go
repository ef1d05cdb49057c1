package resource

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/managedfields"
)

// shownScales are the Scales of a write as mutating admission sees them: the new one as
// the client sent it, and who owns what of either, of which only the number is
// kept. Validating admission sees what is stored.
type shownScales struct {
	now, old map[string]any
	applied  bool
	told     bool // they have their managedFields
}

// tell gives both their managedFields, when somebody is going to look.
func (s *shownScales) tell(ctx context.Context, w *Write) (err error) {
	if s.told {
		return nil
	}
	s.told = true
	if s.old, _, err = scale.Of(w.scales(), w.old.Object); err != nil {
		return err
	}
	replicas := map[string][]string{}
	for _, v := range w.Resource.Def.Versions {
		if p := scale.Paths(v, w.Subresource); p != nil {
			replicas[w.Resource.Def.APIVersion(v.Name)] = scale.Fields(p)
		}
	}
	live, next := managedfields.OfScale(w.managed.live, replicas), managedfields.OfScale(w.managed.next, replicas)
	if !s.applied {
		out, err := managedfields.Scales().Update(ctx, managedfields.Change{
			Version: w.GetKind().Version, Subresource: w.Subresource, Manager: w.Options.Caller.manager(), Time: time.Now(),
			Live: s.old, LiveManaged: live, New: s.now, NewManaged: live,
		})
		if err != nil {
			return err
		}
		next = out.Managed
	}
	object.SetManaged(s.now, next)
	object.SetManaged(s.old, live)
	return nil
}

// labels are those of both, of which only what the client sent may have some.
func (s *shownScales) labels() []labels.Set {
	if s == nil {
		return []labels.Set{nil, nil}
	}
	return []labels.Set{(&unstructured.Unstructured{Object: s.now}).GetLabels(), nil}
}
