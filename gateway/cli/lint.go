package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/lifecycle/lint"
)

// lintCommand is one run of `wasmgate lint`.
type lintCommand struct {
	client               clientFlags
	file, against        string
	revision, toRevision string
	stored               bool
	format               output
}

func newLint() *cobra.Command {
	c := &lintCommand{}
	cmd := &cobra.Command{
		Use:   "lint -f CRD.yaml {--against OLD.yaml | --revision REVISION | --stored}",
		Short: "Report what a change of a CustomResourceDefinition breaks",
		Long: "Compare the CustomResourceDefinitions in a file with their state before: in another\n" +
			"file, in a revision of git, or on the server. Report what the change breaks for clients\n" +
			"and stored objects, with the rule of Kubernetes' deprecation policy. A definition that\n" +
			"is new breaks nothing.\n\n" +
			"The status is 0 if nothing is broken, 1 if something is, or the server does not\n" +
			"answer, and 2 if the command line is wrong.",
		Example: "  wasmgate lint -f crd.yaml --against crd-before.yaml\n" +
			"  wasmgate lint -f crd.yaml --revision main\n" +
			"  wasmgate lint -f crd.yaml --stored -o json",
		Args:        arguments(0, 0),
		Annotations: map[string]string{mistakesAre: ""},
		RunE:        c.run,
	}
	cmd.Flags().StringVarP(&c.file, "filename", "f", "", "`file` with the CustomResourceDefinitions after the change, YAML or JSON")
	cmd.Flags().StringVar(&c.against, "against", "", "`file` with the CustomResourceDefinitions before the change")
	cmd.Flags().StringVar(&c.revision, "revision", "", "`revision` of git with the file before the change")
	cmd.Flags().StringVar(&c.toRevision, "to-revision", "", "`revision` of git with the file after the change (default the file in the folder)")
	cmd.Flags().BoolVar(&c.stored, "stored", false, "compare with the definitions on the server, and with their stored versions")
	c.client.add(cmd, time.Minute)
	c.format.add(cmd, asTable, asJSON, asYAML)
	return cmd
}

func (c *lintCommand) run(cmd *cobra.Command, _ []string) error {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	ways := 0
	for _, set := range []bool{c.against != "", c.revision != "", c.stored} {
		if set {
			ways++
		}
	}
	if c.file == "" || ways != 1 {
		return fmt.Errorf("-f and one of --against, --revision and --stored are needed\nUsage: %s", cmd.UseLine())
	}
	is, err := readDefinitions(cmd.Context(), c.file, c.toRevision)
	if err == nil && len(is) == 0 {
		err = fmt.Errorf("%s: there is no CustomResourceDefinition in it", c.file)
	}
	if err != nil {
		return fmt.Errorf("%w\n-f names the file with the definitions after the change", err)
	}
	was, err := c.former(cmd, is)
	if err != nil && c.against != "" {
		err = fmt.Errorf("%w\n--against names the file with the definitions before the change", err)
	}
	if err != nil {
		return err
	}
	if c.against != "" && !shares(was, is) {
		return fmt.Errorf("%s: it has none of the CustomResourceDefinitions in %s", c.against, c.file)
	}
	found := []lint.Finding{} // not null in JSON
	for _, name := range slices.Sorted(maps.Keys(was)) {
		found = append(found, lint.Compare(was[name], is[name])...)
	}
	if err := c.print(cmd.OutOrStdout(), found); err != nil {
		return err
	}
	if len(found) > 0 {
		return &outcome{statusFound, fmt.Sprintf("%s: the change breaks what clients rely on, see above", c.file)}
	}
	return nil
}

// shares tells whether two files have a definition in common.
func shares(a, b definitions) bool {
	for name := range a {
		if _, ok := b[name]; ok {
			return true
		}
	}
	return false
}

// former are the definitions as they were.
func (c *lintCommand) former(cmd *cobra.Command, is definitions) (was definitions, err error) {
	switch {
	case c.against != "":
		return readDefinitions(cmd.Context(), c.against, "")
	case c.revision != "":
		return readDefinitions(cmd.Context(), c.file, c.revision)
	}
	was = definitions{}
	return was, c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		for name := range is {
			u, err := client.Resource(definitionsResource).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err == nil {
				err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			was[name] = crd
		}
		return nil
	})
}

func (c *lintCommand) print(out io.Writer, found []lint.Finding) error {
	if c.format.forPrograms() && c.format.format != asTable {
		return c.format.value(out, found)
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "nothing is broken")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "DEFINITION\tVERSION\tPATH\tRULE\tWHAT")
	for _, f := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Definition, f.Version, f.Path, f.Rule, f.What)
	}
	return w.Flush()
}
