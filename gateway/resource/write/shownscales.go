package write

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
func (s *shownScales) tell(ctx context.Context, r *request, from *present, next object.Managed) (err error) {
	if s.told {
		return nil
	}
	s.told = true
	if s.old, _, err = scale.Of(scales(r.Target), from.object.Object); err != nil {
		return err
	}
	replicas := map[string][]string{}
	for _, v := range r.Resource.Def.Versions {
		if p := scale.Paths(v, r.Subresource); p != nil {
			replicas[r.Resource.Def.APIVersion(v.Name)] = scale.Fields(p)
		}
	}
	live, owned := managedfields.OfScale(from.managed, replicas), managedfields.OfScale(next, replicas)
	if !s.applied {
		out, err := managedfields.Scales().Update(ctx, managedfields.Change{
			Version: r.kind().Version, Subresource: r.Subresource, Manager: manager(r.Options.Caller), Time: time.Now(),
			Live: s.old, LiveManaged: live, New: s.now, NewManaged: live,
		})
		if err != nil {
			return err
		}
		owned = out.Managed
	}
	object.SetManaged(s.now, owned)
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
