package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

const (
	// promotedAnnotation lets the candidate that it names serve.
	promotedAnnotation = "wasmgate.dev/promoted-revision"
	// awaitingPromotion is the reason of Compiled while a candidate waits.
	awaitingPromotion = "AwaitingPromotion"
)

// moduleCandidate is a revision that waits to be promoted.
type moduleCandidate struct {
	Revision string        `json:"revision"`
	Digest   string        `json:"digest"`
	Report   *moduleReport `json:"report"`
}

// moduleReport is how it converts live objects.
type moduleReport struct {
	State       string `json:"state"`
	Message     string `json:"message"`
	Conversions int64  `json:"conversions"`
	Different   int64  `json:"different"`
	Failed      int64  `json:"failed"`
	Unlisted    int64  `json:"unlisted"`
	Differences []struct {
		Resource, From, To, Path, Change, Example string
		Count                                     int64
	} `json:"differences"`
	Failures []struct {
		Object, From, To, Reason string
	} `json:"failures"`
}

// moduleProof is what is known of what a revision loses of a definition.
type moduleProof struct {
	Revision   string `json:"revision"`
	Definition string `json:"definition"`
	Lossless   string `json:"lossless"`
	Message    string `json:"message"`
}

// printLosses says what the candidate loses, where spec.proof asks for that.
func (c *moduleCandidate) printLosses(out io.Writer, proofs []moduleProof) {
	for _, p := range proofs {
		if p.Lossless == string(metav1.ConditionFalse) && strings.HasPrefix(c.Revision, p.Revision+"-") {
			fmt.Fprintf(out, "of customresourcedefinitions/%s is lost: %s\n", shown(p.Definition), strings.TrimSuffix(shown(p.Message), "\n"))
		}
	}
}

// ended tells that the gateway has said all that it will.
func (r *moduleReport) ended() bool { return r != nil && r.State != "Running" }

// soFar is what is known before that.
func (r *moduleReport) soFar() string {
	switch {
	case r != nil && r.Conversions == 0 && r.Message != "":
		return "nothing was compared yet: " + shown(r.Message)
	case r == nil || r.Conversions == 0:
		return "nothing was compared yet"
	}
	return fmt.Sprintf("so far conversions: %d, different: %d, failed: %d", r.Conversions, r.Different, r.Failed)
}

// waits tells that this content has to be promoted before it serves.
func (s moduleStatus) waits(digest string) bool {
	return s.Candidate != nil && s.Candidate.Digest == digest && s.condition(compiled).Reason == awaitingPromotion
}

// promoteCommand is one run of `wasmgate module promote`.
type promoteCommand struct {
	client                clientFlags
	accept, force, dryRun bool
	acceptPaths           []string
	reporter
}

func newModulePromote() *cobra.Command {
	p := &promoteCommand{}
	cmd := &cobra.Command{
		Use:   "promote NAME",
		Short: "Put the waiting revision of a module into use (spec.rollout: Shadow)",
		Long: "Wait until live objects were converted by the waiting revision and by the present one,\n" +
			"print the differences, and put the waiting revision into use if there are none. If\n" +
			"fields differ, --accept names those that may, and --accept-differences accepts all. If\n" +
			"the waiting revision fails where the present one does not, it needs --force.",
		Example: "  wasmgate module promote crontab\n" +
			"  wasmgate module promote crontab --accept spec.hosts,spec.ports[*].name",
		Args:              arguments(1, 1),
		ValidArgsFunction: p.client.completeModule,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.out, p.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return p.client.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
				return p.run(ctx, objects, args[0])
			})
		},
	}
	p.client.add(cmd, 10*time.Minute)
	p.format.add(cmd, asJSON, asYAML, asName)
	cmd.Flags().StringSliceVar(&p.acceptPaths, "accept", nil, "`paths` of fields that may differ, with all fields below them, such as spec.ports[*].name")
	cmd.Flags().BoolVar(&p.accept, "accept-differences", false, "promote the revision whatever fields differ")
	cmd.Flags().BoolVar(&p.force, "force", false, "promote the revision whatever the report says, without waiting for the report")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "only print the report")
	return cmd
}

func (p *promoteCommand) run(ctx context.Context, objects dynamic.ResourceInterface, name string) error {
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return noModule(name, err)
	}
	if statusOf(obj).Candidate == nil {
		return fmt.Errorf("no revision of wasmmodule/%s waits to be promoted", name)
	}
	if !p.force || p.dryRun {
		if obj, err = awaitReport(ctx, objects, obj); err != nil {
			return err
		}
	}
	candidate := statusOf(obj).Candidate
	if candidate == nil {
		return fmt.Errorf("the revision of wasmmodule/%s that waited does not any more; see it with: kubectl get wasmmodule %s -o yaml", name, name)
	}
	if candidate.Report != nil && !p.format.forPrograms() {
		if err := candidate.Report.print(p.out); err != nil {
			return err
		}
	}
	if !p.format.forPrograms() {
		candidate.printLosses(p.out, statusOf(obj).Proofs)
	}
	if p.dryRun {
		if p.format.forPrograms() {
			return p.format.object(p.out, modules.GroupResource(), obj)
		}
		return nil
	}
	accepts, err := p.accepts(name, candidate.Report)
	if err != nil {
		return err
	}
	if obj, err = promote(ctx, objects, name, candidate.Digest, candidate.Revision, accepts); err != nil {
		return err
	}
	return p.done(obj, candidate.Digest, "promoted: "+candidate.Digest)
}

// What a promotion accepts of the report, after the revision.
const (
	acceptsAnything    = "/force"
	acceptsDifferences = "/differences=%d"
)

// accepts is what has to be accepted of a report, or an error when nobody did.
func (p *promoteCommand) accepts(name string, r *moduleReport) (string, error) {
	stays := fmt.Sprintf("wasmmodule/%s is not promoted, and the previous content stays in use", name)
	switch {
	case p.force:
		return acceptsAnything, nil
	case r.Failed > 0 || r.State != "Completed":
		return "", fmt.Errorf("%s; promote it all the same with --force", stays)
	case r.Different == 0:
		return "", nil
	case !p.accept && len(p.acceptPaths) == 0:
		return "", fmt.Errorf("%d of %d conversions come out otherwise, so %s; if that is what you want, promote it with --accept-differences, or name what may differ with --accept", r.Different, r.Conversions, stays)
	case !p.accept:
		if left := r.notAccepted(p.acceptPaths); len(left) > 0 {
			return "", fmt.Errorf("%s come out otherwise, too, so %s; if that is what you want, name them with --accept", shown(strings.Join(left, ", ")), stays)
		}
	}
	return fmt.Sprintf(acceptsDifferences, r.Different), nil
}

// notAccepted are the fields that come out otherwise, each once, and are at or below none
// of the paths.
func (r *moduleReport) notAccepted(paths []string) (left []string) {
	for _, d := range r.Differences {
		if !slices.ContainsFunc(paths, func(path string) bool { return below(d.Path, path) }) && !slices.Contains(left, d.Path) {
			left = append(left, d.Path)
		}
	}
	if r.Unlisted > 0 { // nobody knows which
		left = append(left, "fields that are not listed")
	}
	return left
}

// below reports whether a field is at a path or under it.
func below(field, path string) bool {
	rest, ok := strings.CutPrefix(field, path)
	return ok && path != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// awaitReport waits until the report on what waits is complete.
func awaitReport(ctx context.Context, objects dynamic.ResourceInterface, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	name := obj.GetName()
	var report *moduleReport
	err := follow(ctx, objects, name, func(now *unstructured.Unstructured) (bool, error) {
		obj = now
		s := statusOf(now)
		if s.Candidate == nil || s.Candidate.Report.ended() {
			return true, nil
		}
		report = s.Candidate.Report
		if c := s.condition(ready); c.Status == metav1.ConditionFalse && c.Reason == awaitingPromotion {
			return true, fmt.Errorf("nothing of wasmmodule/%s serves that it could be compared with: %s --force", name, shown(c.Message))
		}
		return false, nil
	})
	if ctx.Err() != nil {
		return nil, interrupted(ctx, err, fmt.Sprintf("live objects are still being converted, %s; see how far it is with: wasmgate module promote %s --dry-run --timeout 1s", report.soFar(), name))
	}
	return obj, err
}

// print writes the report for people.
func (r *moduleReport) print(out io.Writer) error {
	fmt.Fprintln(out, shown(r.Message))
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	for i, d := range r.Differences {
		if i == 0 {
			fmt.Fprintln(w, "RESOURCE\tFROM\tTO\tFIELD\tCHANGE\tCOUNT\tEXAMPLE")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", shown(d.Resource), d.From, d.To, shown(d.Path), d.Change, d.Count, shown(d.Example))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Unlisted > 0 {
		fmt.Fprintf(out, "%d differences are in fields that are not listed\n", r.Unlisted)
	}
	for i, f := range r.Failures {
		if i == 0 {
			fmt.Fprintln(w, "OBJECT\tFROM\tTO\tFAILURE")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", shown(f.Object), f.From, f.To, shown(f.Reason))
	}
	return w.Flush()
}

// shown is a text that a terminal shows and does not obey: names of fields are as
// whoever wrote an object chose them, and a module says what it likes.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// promote lets the candidate with that content serve, waits until it does, and
// returns the module as it is then. revision is the one that is meant, "" for whatever
// configuration it has; accepts is what is accepted of its report.
func promote(ctx context.Context, objects dynamic.ResourceInterface, name, digest, revision, accepts string) (*unstructured.Unstructured, error) {
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	candidate := statusOf(obj).Candidate
	if candidate == nil || candidate.Digest != digest || revision != "" && candidate.Revision != revision {
		return nil, fmt.Errorf("wasmmodule/%s changed meanwhile: the revision of content %s no longer waits to be promoted", name, digest)
	}
	if err := change(ctx, objects, name, annotation(promotedAnnotation, candidate.Revision+accepts)); err != nil {
		return nil, err
	}
	err = follow(ctx, objects, name, func(now *unstructured.Unstructured) (bool, error) {
		obj = now
		s := statusOf(obj)
		switch c := s.condition(compiled); {
		case s.serves(digest):
			return true, nil
		case s.Candidate != nil && s.Candidate.Revision != candidate.Revision:
			return true, fmt.Errorf("another revision of wasmmodule/%s waits by now: %s", name, s.Candidate.Digest)
		case c.Status == metav1.ConditionFalse && c.Reason != awaitingPromotion && c.Reason != stillCompiling:
			return true, pushError(name, c, s)
		}
		return false, nil
	})
	if ctx.Err() != nil {
		return nil, interrupted(ctx, err, fmt.Sprintf("the revision was promoted and the gateway goes on with it; see it with: kubectl get wasmmodule %s -o yaml", name))
	}
	return obj, err
}

// annotation is a patch that sets one.
func annotation(name, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: value}}}
}

// change merges a patch into a module.
func change(ctx context.Context, objects dynamic.ResourceInterface, name string, patch map[string]any) error {
	text, err := json.Marshal(patch)
	if err == nil {
		_, err = objects.Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
	}
	return err
}
