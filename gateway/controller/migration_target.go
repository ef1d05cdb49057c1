package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errDefinitionChanged means that a pass proves nothing any more.
var errDefinitionChanged = errors.New("the definition changed during the migration")

// custom tells a custom resource from a built-in, which has no storedVersions.
func (t migrationTarget) custom() bool { return t.UID != "" }

// target finds out what to migrate to, and waits until writes go there.
func (j *migrationJob) target(ctx context.Context) (migrationTarget, error) {
	if j.gr.Resource == "" {
		return migrationTarget{}, failf("spec.resource.resource is empty")
	}
	if err := j.objects.Fresh(ctx); err != nil {
		return migrationTarget{}, err
	}
	served := j.objects.Served()
	i := slices.IndexFunc(served, func(r ServedResource) bool { return r.GroupResource == j.gr })
	crd, err := j.objects.Get(ctx, CRDResource, "", j.gr.String())
	switch {
	case apierrors.IsNotFound(err) && i < 0:
		return migrationTarget{}, failf("resource %q not found", j.gr.String())
	case apierrors.IsNotFound(err):
		return migrationTarget{StorageVersion: served[i].Version}, nil
	case err != nil:
		return migrationTarget{}, err
	case crd.GetDeletionTimestamp() != nil:
		return migrationTarget{}, failf("resource %q is being deleted", j.gr.String())
	}
	target := targetOf(crd)
	if version, ok := j.server.Serving(ctx, j.gr); !ok || version != target.StorageVersion {
		return target, &migrationLater{
			after:   migrationPoll,
			message: fmt.Sprintf("waiting until %s is written at %s", j.gr, target.StorageVersion),
		}
	}
	return target, nil
}

func targetOf(crd *unstructured.Unstructured) migrationTarget {
	t := migrationTarget{Generation: crd.GetGeneration(), UID: crd.GetUID()}
	versions, _ := section(crd, "spec")["versions"].([]any)
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
func (j *migrationJob) retireVersions(ctx context.Context, target migrationTarget) error {
	for range conflictRetries {
		if err := j.objects.Fresh(ctx); err != nil {
			return err
		}
		crd, err := j.objects.Get(ctx, CRDResource, "", j.gr.String())
		if apierrors.IsNotFound(err) {
			return errDefinitionChanged
		}
		if err != nil {
			return err
		}
		if targetOf(crd) != target || crd.GetDeletionTimestamp() != nil {
			return errDefinitionChanged
		}
		short, err := outline(crd)
		if err != nil {
			return err
		}
		status := &short.Status
		if slices.Equal(status.StoredVersions, []string{target.StorageVersion}) {
			return nil
		}
		status.StoredVersions = []string{target.StorageVersion}
		if err := setStatus(crd, status); err != nil {
			return err
		}
		_, err = j.objects.Update(ctx, CRDResource, "status", crd)
		if err == nil || !apierrors.IsConflict(err) {
			return err
		}
	}
	return fmt.Errorf("status of %s: every attempt to write it conflicted", j.gr)
}
