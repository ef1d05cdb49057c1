package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// progressAnnotation is where the gateway reports how far a migration is, as
// JSON (see progress); the upstream type has no field for it.
const progressAnnotation = "migration.wasmgate.dev/progress"

// pausedAnnotation stops a migration while it is "true".
const pausedAnnotation = "migration.wasmgate.dev/paused"

// progress is the part of that report that is shown.
type progress struct {
	Total     int64    `json:"total"`
	Done      int64    `json:"done"`
	Rewritten int64    `json:"rewritten"`
	Skipped   int64    `json:"skipped"`
	Failed    int64    `json:"failed"`
	Failures  []string `json:"failures"`
	// Rate is in objects per second.
	Rate float64 `json:"rate"`
	// Pass is above 1 when all is done and only checked once more.
	Pass int `json:"pass"`

	paused bool
}

var migrations = storagemigrationv1.SchemeGroupVersion.WithResource("storageversionmigrations")

// rateAnnotation is the most objects per second.
const rateAnnotation = "migration.wasmgate.dev/rate"

// migrateCommand is one run of `wasmgate migrate`.
type migrateCommand struct {
	client clientFlags
	noWait bool
	dryRun bool
	rate   float64
	format output
	// out is for what the command prints, errOut for the progress where programs
	// read the other.
	out, errOut io.Writer
}

func newMigrate() *cobra.Command {
	m := &migrateCommand{}
	cmd := &cobra.Command{
		Use:   "migrate RESOURCE.GROUP",
		Short: "Rewrite all stored objects of a resource at its storage version",
		Long: "Rewrite all stored objects of a resource at its storage version, and wait until\n" +
			"this is done. The gateway does the work and continues when this command ends. With\n" +
			"--dry-run all objects are only read at the storage version: nothing is written, and\n" +
			"objects that do not convert are named.",
		Example: "  wasmgate migrate crontabs.example.com --dry-run\n  wasmgate migrate crontabs.example.com",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.out, m.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return m.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
				if !(m.rate >= 0) || math.IsInf(m.rate, 0) { // nor what is no number
					return mistake{fmt.Errorf("--rate: must be a number of objects, and not negative, got %v", m.rate)}
				}
				if args[0] == "" {
					return mistake{fmt.Errorf("the resource is empty\nUsage: %s", cmd.UseLine())}
				}
				return m.run(ctx, cfg, schema.ParseGroupResource(args[0]))
			})
		},
	}
	m.client.add(cmd, 24*time.Hour)
	cmd.Flags().BoolVar(&m.noWait, "no-wait", false, "start the migration and do not wait for it")
	cmd.Flags().BoolVar(&m.dryRun, "dry-run", false, "only check the migration, and whether all objects convert")
	m.format.add(cmd, asJSON, asYAML, asName)
	cmd.Flags().Float64Var(&m.rate, "rate", 0, "the most `objects` per second (default no limit)")
	return cmd
}

func (m *migrateCommand) run(ctx context.Context, cfg *rest.Config, asked schema.GroupResource) error {
	gvr, err := resolve(cfg, asked)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	if m.dryRun {
		return m.try(ctx, client, gvr)
	}
	objects, gr := client.Resource(migrations), gvr.GroupResource()
	created, err := m.create(ctx, objects, gr)
	if err != nil {
		return err
	}
	name := created.GetName()
	if m.noWait {
		if m.format.forPrograms() {
			return m.format.object(m.out, migrations.GroupResource(), created)
		}
		fmt.Fprintf(m.out, "storageversionmigration/%s created\n", name)
		return nil
	}
	return m.wait(ctx, objects, gr, name)
}

// resolve finds the resource that is meant by a plural, singular or short
// name.
func resolve(cfg *rest.Config, asked schema.GroupResource) (found schema.GroupVersionResource, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return found, err
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return found, fmt.Errorf("cannot ask %s what it serves: %w", cfg.Host, err)
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), client, nil)
	found, err = mapper.ResourceFor(asked.WithVersion(""))
	if meta.IsNoMatchError(err) {
		return found, fmt.Errorf("the server serves no resource %q; `kubectl api-resources` lists what it serves", asked)
	}
	return found, err
}

// create makes the migration, or with a dry run has it checked.
func (m *migrateCommand) create(ctx context.Context, objects dynamic.ResourceInterface, gr schema.GroupResource, dryRun ...string) (*unstructured.Unstructured, error) {
	var annotations map[string]string
	if m.rate > 0 {
		annotations = map[string]string{rateAnnotation: strconv.FormatFloat(m.rate, 'f', -1, 64)}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&storagemigrationv1.StorageVersionMigration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: storagemigrationv1.SchemeGroupVersion.String(), Kind: "StorageVersionMigration",
		},
		ObjectMeta: metav1.ObjectMeta{GenerateName: gr.String() + "-", Annotations: annotations},
		Spec: storagemigrationv1.StorageVersionMigrationSpec{
			Resource: metav1.GroupResource{Group: gr.Group, Resource: gr.Resource},
		},
	})
	if err != nil {
		return nil, err
	}
	created, err := objects.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{DryRun: dryRun})
	if apierrors.IsNotFound(err) {
		return nil, errors.New("the server has no StorageVersionMigration (storagemigration.k8s.io/v1): is it a wasmgate?")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start the migration: %w", err)
	}
	return created, nil
}

// wait shows the progress until the migration has ended.
func (m *migrateCommand) wait(ctx context.Context, objects dynamic.ResourceInterface, gr schema.GroupResource, name string) error {
	shownOn := m.out
	if m.format.forPrograms() {
		shownOn = m.errOut
	}
	bar := newProgressBar(shownOn, gr.String())
	began := time.Now()
	var last progress
	var obj *unstructured.Unstructured
	err := follow(ctx, objects, name, func(state *unstructured.Unstructured) (bool, error) {
		obj = state
		var now progress
		if json.Unmarshal([]byte(obj.GetAnnotations()[progressAnnotation]), &now) == nil {
			now.paused = obj.GetAnnotations()[pausedAnnotation] == "true"
			last = now
			bar.show(last)
		}
		var svm storagemigrationv1.StorageVersionMigration
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &svm); err != nil {
			return true, err
		}
		if meta.IsStatusConditionTrue(svm.Status.Conditions, string(storagemigrationv1.MigrationSucceeded)) {
			return true, nil
		}
		failed := meta.FindStatusCondition(svm.Status.Conditions, string(storagemigrationv1.MigrationFailed))
		if failed != nil && failed.Status == metav1.ConditionTrue {
			return true, migrationError(gr, name, failed, last)
		}
		return false, nil
	})
	bar.end()
	if err != nil {
		return interrupted(ctx, err, fmt.Sprintf("the migration goes on without this command; see it with: kubectl get storageversionmigration %s -o yaml", name))
	}
	if m.format.forPrograms() {
		return m.format.object(m.out, migrations.GroupResource(), obj)
	}
	fmt.Fprintf(m.out, "%s migrated: %s, %d rewritten, %d already at the storage version, in %s\n",
		gr, objectsIn(last.Done), last.Rewritten, last.Skipped, time.Since(began).Round(10*time.Millisecond))
	return nil
}

// maxFailuresShown bounds the names in an error.
const maxFailuresShown = 10

// migrationError says what went wrong and what to do about it.
func migrationError(gr schema.GroupResource, name string, failed *metav1.Condition, g progress) error {
	var b strings.Builder
	fmt.Fprintf(&b, "migration %s failed: %s: %s", name, failed.Reason, failed.Message)
	for i, object := range g.Failures {
		if i == maxFailuresShown {
			fmt.Fprintf(&b, "\n  and %d more", len(g.Failures)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s", object)
	}
	fmt.Fprintf(&b, "\nRewritten objects stay rewritten, and nothing was lost. Correct the objects above, then run again:\n  wasmgate migrate %s", gr)
	return errors.New(b.String())
}
