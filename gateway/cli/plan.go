package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/lifecycle/retire"
)

var definitionsResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// planCommand is one run of `wasmgate plan`.
type planCommand struct {
	client   clientFlags
	versions []string
	since    time.Duration
	format   output
}

func newPlan() *cobra.Command {
	c := &planCommand{}
	cmd := &cobra.Command{
		Use:   "plan [CRD...]",
		Short: "Report which versions of CustomResourceDefinitions can be removed, and by which steps",
		Long: "Report which versions can be switched off (served: false) or removed. This depends on\n" +
			"the objects stored at a version, the clients that use it, and the managers that own\n" +
			"fields at it. The plan lists the commands in order. It is about versions that are\n" +
			"deprecated or come after the storage version in Kubernetes' order (v2, v1, v2beta1,\n" +
			"v1alpha1), or about those of --versions. Without an argument it is about all\n" +
			"definitions with several versions.\n\n" +
			"Clients are those that the answering gateway has seen since its start. A kube-apiserver\n" +
			"does not report clients, and the plan says so.\n\n" +
			"The status is 0 if nothing is in the way, 1 if something is or the data could not be\n" +
			"read, and 2 if the command line is wrong.",
		Example: "  wasmgate plan\n" +
			"  wasmgate plan crontabs.example.com --since 24h\n" +
			"  wasmgate plan crontabs.example.com --versions v1beta1 -o json",
		Args:              arguments(0, 1000),
		ValidArgsFunction: c.client.completeDefinitions,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error { return c.run(ctx, cmd.OutOrStdout(), cfg, args) })
		},
	}
	cmd.Flags().StringSliceVar(&c.versions, "versions", nil, "`versions` to remove, of one definition")
	cmd.Flags().DurationVar(&c.since, "since", 0, "ignore requests and owners of fields that are older than this (default none is ignored)")
	c.client.add(cmd, time.Minute)
	c.format.add(cmd, asJSON, asYAML)
	return cmd
}

func (c *planCommand) run(ctx context.Context, out io.Writer, cfg *rest.Config, names []string) error {
	switch {
	case len(c.versions) > 0 && len(names) != 1:
		return errors.New("--versions is about one definition: name it")
	case c.since < 0:
		return fmt.Errorf("--since: must not be negative, got %v", c.since)
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	about, err := definitionsOf(ctx, client.Resource(definitionsResource), names)
	if err != nil {
		return err
	}
	plans, inTheWay := []*retire.Plan{}, 0
	for _, crd := range about {
		facts := retire.Facts{Definition: crd, Versions: c.versions}
		if c.since > 0 {
			facts.Since = time.Now().Add(-c.since)
		}
		if facts.Usage, facts.Unknown, err = usageOf(ctx, client, crd.Name); err != nil {
			return err
		}
		plan, err := retire.Make(facts)
		if err != nil {
			return err
		}
		inTheWay += len(plan.InTheWay)
		plans = append(plans, plan)
	}
	if c.format.forPrograms() {
		err = c.format.value(out, plans)
	} else {
		err = printPlans(out, plans)
	}
	if err == nil && inTheWay > 0 {
		return &outcome{statusFound, "something is in the way, see above"}
	}
	return err
}

// definitionsOf are the definitions with the names, or all with several versions.
func definitionsOf(ctx context.Context, objects dynamic.ResourceInterface, names []string) (all []*apiextensionsv1.CustomResourceDefinition, err error) {
	var read []unstructured.Unstructured
	if len(names) == 0 {
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		read = list.Items
	}
	for _, name := range names {
		obj, err := objects.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, mistake{fmt.Errorf("there is no definition %q; want its whole name, PLURAL.GROUP (%w)", name, err)}
		}
		if err != nil {
			return nil, err
		}
		read = append(read, *obj)
	}
	for i := range read {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(read[i].Object, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", read[i].GetName(), err)
		}
		if len(names) > 0 || len(crd.Spec.Versions) > 1 {
			all = append(all, crd)
		}
	}
	return all, nil
}

// usageOf is how the versions of a definition are used; nil, and why, where the server
// does not tell.
func usageOf(ctx context.Context, client dynamic.Interface, name string) (*retire.Usage, string, error) {
	obj, err := client.Resource(definitionsResource).Get(ctx, name, metav1.GetOptions{}, "usage")
	switch {
	case apierrors.IsNotFound(err):
		return nil, "the server is no wasmgate", nil
	case apierrors.IsForbidden(err):
		return nil, "you may not get customresourcedefinitions/usage", nil
	case err != nil:
		return nil, "", err
	case obj.GetKind() != "DefinitionUsage": // of which nothing follows, least of all that nothing is used
		return nil, "the server is no wasmgate", nil
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, "", err
	}
	usage := &retire.Usage{}
	return usage, "", json.Unmarshal(data, usage)
}

func printPlans(out io.Writer, plans []*retire.Plan) error {
	if len(plans) == 0 {
		_, err := fmt.Fprintln(out, "no definition has several versions")
		return err
	}
	for i, p := range plans {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := printPlan(out, p); err != nil {
			return err
		}
	}
	return nil
}

func printPlan(out io.Writer, p *retire.Plan) error {
	fmt.Fprintf(out, "%s, all to be stored at %s\n", p.Definition, p.Target)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "VERSION\tSERVED\tSTORED\tOBJECTS\tCLIENTS\tOWNERS\tNOW")
	for _, v := range p.Versions {
		stored, count, clients, owners := "", "unknown", "unknown", "unknown"
		switch {
		case v.Storage:
			stored = "storage"
		case v.Listed:
			stored = "listed"
		}
		if v.Objects != nil {
			count, clients, owners = fmt.Sprint(*v.Objects), fmt.Sprint(len(v.Clients)), fmt.Sprint(len(v.Owners))
		}
		fmt.Fprintf(w, "%s\t%t\t%s\t%s\t%s\t%s\t%s\n", v.Name, v.Served, stored, count, clients, owners, nowOf(v))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if p.Since != nil {
		fmt.Fprintf(out, "Clients are those of the gateway that answered, since %s.\n", p.Since.UTC().Format(time.RFC3339))
	}
	for i, o := range p.InTheWay {
		if i == 0 {
			fmt.Fprintln(out, "\nIn the way:")
		}
		fmt.Fprintf(out, "  %s: %s\n      %s\n", o.Version, oneLine(o.What), oneLine(o.Do))
	}
	for i, s := range p.Steps {
		if i == 0 {
			fmt.Fprintln(out, "\nSteps:")
		}
		do, note := doing(s)
		fmt.Fprintf(out, "%d. %s %s%s: %s\n  %s\n", i+1, do, s.Version, note, s.What, s.Command)
	}
	if len(p.Steps) == 0 {
		fmt.Fprintln(out, "No version is to be given up.")
	}
	return nil
}

// doing is what a step does, and what is to be known of it at once.
func doing(s retire.Step) (do, note string) {
	var notes []string
	do = s.Do
	if s.Do == retire.Unserve {
		do, notes = "switch off", []string{"served: false"}
	}
	if s.Waits {
		notes = append(notes, "not yet")
	}
	if len(notes) > 0 {
		note = " (" + strings.Join(notes, "; ") + ")"
	}
	return do, note
}

// nowOf is what may become of a version at once.
func nowOf(v retire.Version) string {
	switch {
	case !v.GivenUp:
		return "stays"
	case v.Objects == nil:
		return "unknown"
	case v.CanRemove && v.CanUnserve:
		return "can be switched off, or removed"
	case v.CanRemove:
		return "can be removed"
	case v.CanUnserve:
		return "can be switched off"
	}
	return "in use"
}

// oneLine is a text that clients had a part in, for a terminal.
func oneLine(text string) string { return strings.ReplaceAll(shown(text), "\n", " ") }
