package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// deleteCommand is one run of `wasmgate module delete`.
type deleteCommand struct {
	client                       clientFlags
	ignoreNotFound, wait, dryRun bool
	format                       output
	out                          io.Writer
}

func newModuleDelete() *cobra.Command {
	d := &deleteCommand{}
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete modules",
		Long: "Delete modules with their contents. A module that is still in use cannot be deleted:\n" +
			"the error names the objects that refer to it.",
		Example:           "  wasmgate module delete crontab",
		Args:              arguments(1, math.MaxInt),
		ValidArgsFunction: d.client.completeModules,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.out = cmd.OutOrStdout()
			return d.client.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
				var errs []error
				for _, name := range args {
					errs = append(errs, d.run(ctx, objects, name))
				}
				return errors.Join(errs...)
			})
		},
	}
	d.client.add(cmd, time.Minute)
	cmd.Flags().BoolVar(&d.ignoreNotFound, "ignore-not-found", false, "a module that does not exist is no error")
	cmd.Flags().BoolVar(&d.wait, "wait", true, "wait until the module is gone")
	cmd.Flags().BoolVar(&d.dryRun, "dry-run", false, "only let the gateway say whether the module can be deleted")
	d.format.add(cmd, asName)
	return cmd
}

func (d *deleteCommand) run(ctx context.Context, objects dynamic.ResourceInterface, name string) error {
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		uid := obj.GetUID()
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
		if d.dryRun {
			options.DryRun = []string{metav1.DryRunAll}
		}
		err = objects.Delete(ctx, name, options)
	}
	if err = noModule(name, err); err != nil {
		if d.ignoreNotFound && gone(err) {
			return nil
		}
		return err
	}
	if d.wait && !d.dryRun {
		if err := awaitGone(ctx, objects, obj); err != nil {
			return err
		}
	}
	if d.format.format == asName {
		return d.format.object(d.out, modules.GroupResource(), obj)
	}
	did := "deleted"
	if d.dryRun {
		did = "can be deleted (dry run)"
	}
	_, err = fmt.Fprintf(d.out, "wasmmodule/%s %s\n", name, did)
	return err
}

// gone reports whether an error tells that a module does not exist, rather than that
// the server has no modules.
func gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// awaitGone waits until an object was deleted, or replaced by another.
func awaitGone(ctx context.Context, objects dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
	err := follow(ctx, objects, obj.GetName(), func(now *unstructured.Unstructured) (bool, error) {
		return now.GetUID() != obj.GetUID(), nil
	})
	if errors.Is(err, errDeleted) || gone(err) {
		return nil
	}
	if ctx.Err() != nil {
		return interrupted(ctx, err, "the deletion was accepted; see what holds it up with: kubectl get wasmmodule "+obj.GetName()+" -o yaml")
	}
	return err
}
