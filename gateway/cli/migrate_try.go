package cli

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// tryPage is how many objects are read at a time to try a migration.
const tryPage = 500

// try has the gateway check the migration, and reads all objects at the version that they
// would be stored at, as the migration will: nothing is written.
func (m *migrateCommand) try(ctx context.Context, client dynamic.Interface, gvr schema.GroupVersionResource) error {
	created, err := m.create(ctx, client.Resource(migrations), gvr.GroupResource(), metav1.DryRunAll)
	if err != nil {
		return err
	}
	if gvr.Version, err = storedAt(ctx, client, gvr); err != nil {
		return err
	}
	shownOn := m.out
	if m.format.forPrograms() {
		shownOn = m.errOut
	}
	bar := newProgressBar(shownOn, gvr.GroupResource().String())
	var g progress
	options := metav1.ListOptions{Limit: tryPage}
	for {
		page, err := client.Resource(gvr).List(ctx, options)
		if next := afterExpiry(err); next != "" {
			options.Continue = next
			continue
		}
		if err != nil {
			bar.end()
			return untried(gvr, g.Done, err)
		}
		g.Done += int64(len(page.Items))
		g.Total = g.Done
		if n := page.GetRemainingItemCount(); n != nil {
			g.Total += *n
		}
		bar.show(g)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	bar.end()
	if m.format.forPrograms() {
		return m.format.object(m.out, migrations.GroupResource(), created)
	}
	_, err = fmt.Fprintf(m.out, "%s can be migrated (dry run): %s converted to %s\n", gvr.GroupResource(), objectsIn(g.Done), gvr.Version)
	return err
}

// afterExpiry is where a list goes on, of the newest state, whose own state is no longer
// kept; "" where err is another.
func afterExpiry(err error) string {
	var s apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &s) {
		return ""
	}
	return s.Status().Continue
}

// untried tells what does not convert, or why nobody knows.
func untried(gvr schema.GroupVersionResource, done int64, err error) error {
	says := "cannot be migrated to"
	if !apierrors.IsInternalError(err) {
		says = "cannot be read to try it at"
	}
	return fmt.Errorf("%s %s %s: after %s: %w", gvr.GroupResource(), says, gvr.Version, objectsIn(done), err)
}

// storedAt is the version at which objects of a resource are stored: of a custom one what
// its definition says, of others the one that is asked for.
func storedAt(ctx context.Context, client dynamic.Interface, gvr schema.GroupVersionResource) (string, error) {
	obj, err := client.Resource(definitionsResource).Get(ctx, gvr.GroupResource().String(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return gvr.Version, nil
	}
	if err != nil {
		return "", err
	}
	var d apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &d); err != nil {
		return "", err
	}
	for _, v := range d.Spec.Versions {
		if v.Storage && !v.Served {
			return "", fmt.Errorf("objects of %s are stored at %s, which is not served: they cannot be read there to try it", gvr.GroupResource(), v.Name)
		}
		if v.Storage {
			return v.Name, nil
		}
	}
	return gvr.Version, nil
}
