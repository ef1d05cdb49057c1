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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

func newVersionPriority() *cobra.Command {
	return commands("version-priority", "See how a module would order the versions of API groups", newPriorityPreview())
}

// previewCommand is one run of `wasmgate version-priority preview`.
type previewCommand struct {
	client clientFlags
	file   string
	spec   prioritySpec
	format output
}

// prioritySpec is the spec of a VersionPriority.
type prioritySpec struct {
	Groups []string `json:"groups"`
	Module string   `json:"module"`
}

func newPriorityPreview() *cobra.Command {
	p := &previewCommand{}
	cmd := &cobra.Command{
		Use:   "preview (--module NAME GROUP... | -f FILE)",
		Short: "Ask a module for the order of versions, without changing anything",
		Long: "Ask a module for the order of the versions that groups serve now, and print it\n" +
			"beside the Kubernetes order. Nothing changes. The groups and the module come\n" +
			"from the command line, or from a VersionPriority in a file.",
		Example: "  wasmgate version-priority preview --module releases releases.example.com\n" +
			"  wasmgate version-priority preview -f version-priority.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			if err := p.complete(args); err != nil {
				return err
			}
			return p.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
				return p.run(ctx, cfg, cmd.OutOrStdout())
			})
		},
	}
	p.client.add(cmd, time.Minute)
	p.format.add(cmd, asJSON, asYAML)
	cmd.Flags().StringVar(&p.spec.Module, "module", "", "`name` of the WasmModule that is asked")
	cmd.Flags().StringVarP(&p.file, "filename", "f", "", "`file` with a VersionPriority")
	return cmd
}

// complete reads what is asked, from the arguments or from the file.
func (p *previewCommand) complete(args []string) error {
	p.spec.Groups = args
	if p.file != "" {
		if p.spec.Module != "" || len(args) > 0 {
			return mistake{errors.New("give either --module and groups, or -f")}
		}
		text, err := named(p.file)
		if err != nil {
			return err
		}
		var object struct {
			Kind string       `json:"kind"`
			Spec prioritySpec `json:"spec"`
		}
		if err := yaml.Unmarshal(text, &object); err != nil {
			return mistake{fmt.Errorf("%s: %w", p.file, err)}
		}
		if object.Kind != "VersionPriority" {
			return mistake{fmt.Errorf("%s holds a %q, not a VersionPriority", p.file, object.Kind)}
		}
		p.spec = object.Spec
	}
	if p.spec.Module == "" || len(p.spec.Groups) == 0 {
		return mistake{errors.New("a module and at least one group are needed: --module NAME GROUP..., or -f FILE")}
	}
	return nil
}

// priorityReview is the part of a VersionPriorityReview that is looked at here.
type priorityReview struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Request    *priorityRequest `json:"request,omitempty"`
	Response   *priorityAnswer  `json:"response,omitempty"`
}

type priorityRequest struct {
	Group    string   `json:"group"`
	Versions []string `json:"versions,omitempty"`
}

type priorityAnswer struct {
	Versions []string `json:"versions"`
}

// run asks about each group. One that fails does not keep the others from
// being printed.
func (p *previewCommand) run(ctx context.Context, cfg *rest.Config, out io.Writer) error {
	client, err := modulesClient(cfg)
	if err != nil {
		return err
	}
	reviews, errs := []*priorityReview{}, []error(nil)
	for _, group := range p.spec.Groups {
		review, err := p.ask(ctx, client, group)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", group, err))
			continue
		}
		reviews = append(reviews, review)
	}
	if p.format.forPrograms() {
		return errors.Join(append(errs, p.format.value(out, reviews))...)
	}
	return errors.Join(append(errs, p.print(out, reviews))...)
}

// print prints the orders for people; no heading without any.
func (p *previewCommand) print(out io.Writer, reviews []*priorityReview) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	for i, review := range reviews {
		if i == 0 {
			fmt.Fprintf(w, "GROUP\tKUBERNETES ORDER\tORDER OF %s\n", p.spec.Module)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", review.Request.Group, strings.Join(review.Request.Versions, ", "), strings.Join(review.Response.Versions, ", "))
	}
	return w.Flush()
}

func (p *previewCommand) ask(ctx context.Context, client rest.Interface, group string) (*priorityReview, error) {
	body, err := json.Marshal(priorityReview{APIVersion: modules.GroupVersion().String(), Kind: "VersionPriorityReview", Request: &priorityRequest{Group: group}})
	if err != nil {
		return nil, err
	}
	reply, err := answer(p.spec.Module, client.Post().Resource(modules.Resource).Name(p.spec.Module).SubResource("prioritize").
		SetHeader("Content-Type", "application/json").Body(body).Do(ctx))
	if err != nil {
		return nil, interrupted(ctx, err, "the module has not answered")
	}
	review := &priorityReview{}
	if err := json.Unmarshal(reply, review); err != nil {
		return nil, fmt.Errorf("the gateway's answer cannot be read: %w", err)
	}
	if review.Request == nil || review.Response == nil {
		return nil, errors.New("the gateway's answer has no request or no response")
	}
	return review, nil
}
