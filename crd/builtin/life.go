package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/deprecation"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// lifeOf is what the Go type of a version says of its life; the zero value, of which
// there is no end, if it says nothing.
func lifeOf(gvk schema.GroupVersionKind) (life lifecycle.Life) {
	life.Stability = lifecycle.TrackOf(gvk.Version)
	fresh, err := freshOf(gvk)
	if err != nil {
		return life
	}
	typed := fresh()
	if t, ok := typed.(interface{ APILifecycleIntroduced() (int, int) }); ok {
		life.Introduced.Major, life.Introduced.Minor = t.APILifecycleIntroduced()
	}
	if t, ok := typed.(interface{ APILifecycleDeprecated() (int, int) }); ok {
		life.Deprecated.Major, life.Deprecated.Minor = t.APILifecycleDeprecated()
	}
	if t, ok := typed.(interface{ APILifecycleRemoved() (int, int) }); ok {
		life.Removed.Major, life.Removed.Minor = t.APILifecycleRemoved()
	}
	if t, ok := typed.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok && !t.APILifecycleReplacement().Empty() {
		life.Replacement = t.APILifecycleReplacement().GroupVersion().String()
	}
	return life
}

// live leaves out the versions that a release does not have, but for kinds that are
// essential, and returns those of them that the choice asks for.
func (c Choice) live(f *file.File, now lifecycle.Release) (errs []error) {
	for i := range f.Versions {
		v := &f.Versions[i]
		at := f.GVK(v.Name)
		if f.Essential || lifeOf(at).Exists(now) {
			continue
		}
		v.Served = false
		if key := at.GroupVersion().String() + "/" + f.Names.Plural; c[key] {
			errs = append(errs, fmt.Errorf("%s is not there in %s", key, now))
		}
	}
	return errs
}

// outdate notes what the Go types say of the end of versions.
func outdate(all []*crd.Definition, now lifecycle.Release) {
	for _, d := range all {
		for _, v := range d.Versions {
			at := d.GVK(v.Name)
			fresh, err := freshOf(at)
			if err != nil || !deprecation.IsDeprecated(fresh(), now.Major, now.Minor) {
				continue
			}
			typed := fresh()
			typed.GetObjectKind().SetGroupVersionKind(at)
			v.Deprecated, v.Warning, v.RemovedRelease = true, deprecation.WarningMessage(typed), deprecation.RemovedRelease(typed)
		}
	}
}

// Lives are the lives of all versions of built-in kinds, by version and resource, such
// as "apps/v1 deployments".
func Lives() (map[string]lifecycle.Life, error) {
	files, err := readFiles()
	out := map[string]lifecycle.Life{}
	for _, f := range files {
		for i := range f.Versions {
			at := f.GVK(f.Versions[i].Name)
			out[at.GroupVersion().String()+" "+f.Names.Plural] = lifeOf(at)
		}
	}
	return out, err
}
