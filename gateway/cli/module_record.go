package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// recordCommand is one run of `wasmgate module record`.
type recordCommand struct {
	tools    workbench.Tools
	client   clientFlags
	what     workbench.Recording
	out      string
	selector string
	// namespace is where objects are looked for, "" for everywhere, and most how many are.
	namespace string
	most      int
	force     bool
	format    output
}

func newModuleRecord(tools workbench.Tools) *cobra.Command {
	c := &recordCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "record CRD",
		Short: "Make samples from existing objects, with their values replaced",
		Long: "Choose a few objects of a CustomResourceDefinition that together have as many of its\n" +
			"fields as possible, replace their values by others of the same type and shape, and\n" +
			"write them as samples for `wasmgate module test`. Names, labels, texts, numbers and keys\n" +
			"of maps are replaced, equal texts by equal texts. Not replaced are what the schema\n" +
			"names (fields, values of enums, defaults), true, false, null and empty values. Long\n" +
			"texts, lists and maps are cut. Look at the files before you give them to anybody.\n\n" +
			"The status is 0 if there are samples, 1 if there are no objects, or the\n" +
			"server does not answer, and 2 if the command line is wrong.",
		Example: "  wasmgate module record crontabs.example.com --out samples\n" +
			"  wasmgate module record crontabs.example.com --at v1beta1 --namespace team --samples 5",
		Args:              arguments(1, 1),
		ValidArgsFunction: c.client.completeDefinitions,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error { return c.run(ctx, cmd, cfg, args[0]) })
		},
	}
	cmd.Flags().StringVar(&c.out, "out", "samples", "`folder` to write the samples to")
	cmd.Flags().StringVar(&c.what.Version, "at", "", "`version` to read the objects at (default the storage version)")
	cmd.Flags().IntVar(&c.what.Most, "samples", 8, "the most samples to make")
	cmd.Flags().IntVar(&c.most, "objects", 1000, "the most objects to read")
	cmd.Flags().StringVarP(&c.namespace, "namespace", "n", "", "`namespace` of the objects (default all)")
	cmd.Flags().StringVarP(&c.selector, "selector", "l", "", "label `selector` for the objects, as for kubectl")
	cmd.Flags().BoolVar(&c.force, "force", false, "overwrite existing files")
	c.client.add(cmd, time.Minute)
	c.format.add(cmd, asJSON, asYAML)
	return cmd
}

func (c *recordCommand) run(ctx context.Context, cmd *cobra.Command, cfg *rest.Config, name string) error {
	if c.what.Most <= 0 || c.most <= 0 {
		return errors.New("--samples and --objects have to be more than 0")
	}
	if _, err := labels.Parse(c.selector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	about, err := definitionsOf(ctx, client.Resource(definitionsResource), []string{name})
	if err != nil {
		return err
	}
	crd := about[0]
	crd.TypeMeta = metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"}
	if c.what.Definitions, err = json.Marshal(crd); err != nil {
		return err
	}
	if c.what.Version == "" {
		c.what.Version = storageVersionOf(crd)
	}
	if served := servedOf(crd); !slices.Contains(served, c.what.Version) {
		return fmt.Errorf("--at: %s is not served at %q; it is at %s", name, c.what.Version, strings.Join(served, ", "))
	}
	kind := client.Resource(schema.GroupVersionResource{Group: crd.Spec.Group, Version: c.what.Version, Resource: crd.Spec.Names.Plural})
	if c.what.Objects, err = c.objects(ctx, kind.Namespace(c.namespace)); err != nil {
		return fmt.Errorf("reading %s at %s: %w", name, c.what.Version, err)
	}
	if len(c.what.Objects) == 0 {
		return &outcome{statusFound, fmt.Sprintf("there are no objects of %s to make samples of", name)}
	}
	recorded, err := c.tools.Record(ctx, c.what)
	if err != nil {
		return err
	}
	if err := writeFiles(c.out, recorded.Files, c.force); err != nil {
		return err
	}
	if c.format.forPrograms() {
		err = c.format.value(cmd.OutOrStdout(), recorded)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s in %s, of %s at %s; they have %d of %d fields\n", recorded.Definition,
			counted(int64(len(recorded.Files)), "sample"), c.out, objectsIn(int64(recorded.Objects)), recorded.Version, recorded.Reached, recorded.Fields)
	}
	if err == nil && len(recorded.Files) == 0 {
		return &outcome{statusFound, fmt.Sprintf("%s were passed over: with other values the schema refuses them", objectsIn(int64(recorded.Refused)))}
	}
	return err
}

// servedOf are the versions at which objects of a definition are read.
func servedOf(crd *apiextensionsv1.CustomResourceDefinition) (all []string) {
	for _, v := range crd.Spec.Versions {
		if v.Served {
			all = append(all, v.Name)
		}
	}
	return all
}

// storageVersionOf is the version that objects of a definition are stored at.
func storageVersionOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// maxPage is how many objects are read at a time.
const maxPage = 200

// objects reads objects, page by page.
func (c *recordCommand) objects(ctx context.Context, from dynamic.ResourceInterface) (all [][]byte, err error) {
	options := metav1.ListOptions{LabelSelector: c.selector}
	for {
		options.Limit = int64(min(maxPage, c.most-len(all)))
		page, err := from.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if len(all) == c.most {
				return all, nil
			}
			data, err := page.Items[i].MarshalJSON()
			if err != nil {
				return nil, err
			}
			all = append(all, data)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" || len(all) == c.most {
			return all, nil
		}
	}
}
