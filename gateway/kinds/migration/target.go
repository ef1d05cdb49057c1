package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// ErrDefinitionChanged means that a pass proves nothing any more. What it did remains done.
var ErrDefinitionChanged = errors.New("the definition changed during the migration")

// custom tells a custom resource from a built-in, which has no storedVersions.
func (t target) custom() bool { return t.UID != "" }

// target finds out what to migrate to, and waits until writes go there.
func (j *job) target(ctx context.Context) (target, error) {
	if j.gr.Resource == "" {
		return target{}, failf("spec.resource.resource is empty")
	}
	if err := j.objects.Fresh(ctx); err != nil {
		return target{}, err
	}
	served := j.objects.Served()
	i := slices.IndexFunc(served, func(d *crd.Definition) bool { return d.Is(j.gr) })
	obj, err := j.objects.Get(ctx, gvr.Definitions, "", j.gr.String())
	switch {
	case apierrors.IsNotFound(err) && (i < 0 || served[i].UID != ""): // whose definition is gone
		return target{}, failf("resource %q not found", j.gr.String())
	case apierrors.IsNotFound(err):
		return target{StorageVersion: served[i].StorageVersion}, nil
	case err != nil:
		return target{}, err
	case obj.GetDeletionTimestamp() != nil:
		return target{}, failf("resource %q is being deleted", j.gr.String())
	}
	target := targetOf(obj)
	if version, ok := j.server.Serving(ctx, j.gr); !ok || version != target.StorageVersion {
		return target, &later{
			after:   servingPoll,
			message: fmt.Sprintf("waiting until %s is written at %s", j.gr, target.StorageVersion),
		}
	}
	return target, nil
}

func targetOf(crd *unstructured.Unstructured) target {
	t := target{Generation: crd.GetGeneration(), UID: crd.GetUID()}
	versions, _ := gvr.Section(crd, "spec")["versions"].([]any)
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["storage"] == true {
			t.StorageVersion, _ = v["name"].(string)
		}
	}
	return t
}

// retireVersions takes the old versions out of storedVersions, if the
// definition is still the one that target was read from. The write compares
// the revision that was checked, so that a change cannot slip in between.
func (j *job) retireVersions(ctx context.Context, target target) error {
	for range maxConflicts {
		if err := j.objects.Fresh(ctx); err != nil {
			return err
		}
		obj, err := j.objects.Get(ctx, gvr.Definitions, "", j.gr.String())
		if apierrors.IsNotFound(err) {
			return ErrDefinitionChanged
		}
		if err != nil {
			return err
		}
		if targetOf(obj) != target || obj.GetDeletionTimestamp() != nil {
			return ErrDefinitionChanged
		}
		short, err := gvr.Outline(obj)
		if err != nil {
			return err
		}
		status := &short.Status
		if slices.Equal(status.StoredVersions, []string{target.StorageVersion}) {
			return nil
		}
		status.StoredVersions = []string{target.StorageVersion}
		if err := gvr.SetStatus(obj, status); err != nil {
			return err
		}
		_, err = j.objects.Update(ctx, gvr.Definitions, "status", gvr.WithoutSpec(obj))
		if err == nil || !apierrors.IsConflict(err) {
			return err
		}
	}
	return fmt.Errorf("status of %s: every attempt to write it conflicted", j.gr)
}
