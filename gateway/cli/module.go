package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/dynamic"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

var modules = schema.GroupVersionResource{Group: "wasmgate.dev", Version: "v1", Resource: "wasmmodules"}

// The conditions of a module.
const (
	compiled = "Compiled"
	ready    = "Ready"
	pulled   = "Pulled" // only of modules from a registry
	healthy  = "Healthy"
	// conversionsComplete is False for a module that lacks what definitions need.
	conversionsComplete = "ConversionsComplete"
)

// moduleStatus is the part of a WasmModule's status that is looked at here.
type moduleStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Digest             string             `json:"digest"`
	Size               int64              `json:"size"`
	Hooks              []string           `json:"hooks"`
	Conversions        []moduleConversion `json:"conversions"`
	Revisions          []moduleRevision   `json:"revisions"`
	Candidate          *moduleCandidate   `json:"candidate"`
	SignedBy           []moduleSigner     `json:"signedBy"`
	Proofs             []moduleProof      `json:"proofs"`
	Conditions         []metav1.Condition `json:"conditions"`
}

// statusOf reads the status of a module; what it cannot read is left out.
func statusOf(obj *unstructured.Unstructured) moduleStatus {
	var m struct {
		Status moduleStatus `json:"status"`
	}
	if data, err := json.Marshal(obj.Object); err == nil {
		_ = json.Unmarshal(data, &m)
	}
	return m.Status
}

// condition returns the condition of that type, or one that is Unknown.
func (s moduleStatus) condition(name string) metav1.Condition {
	if c := meta.FindStatusCondition(s.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{Type: name, Status: metav1.ConditionUnknown}
}

func newModule(tools workbench.Tools) *cobra.Command {
	return commands("module", "Create, build, upload, download, list, inspect, sign, promote, roll back and delete WebAssembly modules",
		newModuleInit(tools), newModuleBuild(tools), newModuleRun(tools), newModuleBench(tools), newModuleDiff(tools), newModuleFuzz(tools), newModuleRecord(tools), newModuleReplay(tools), newModuleTest(tools), newModuleInspect(tools), newModuleKeygen(tools), newModuleSign(tools), newModuleVerify(tools),
		newModulePush(), newModuleGet(), newModuleList(), newModuleHistory(), newModuleRollback(), newModulePromote(), newModuleLogs(), newModuleDelete())
}

func newModuleList() *cobra.Command {
	var client clientFlags
	var format output
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the modules and whether they are ready",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
				list, err := objects.List(ctx, metav1.ListOptions{})
				if err != nil {
					return noModules(err)
				}
				if format.forPrograms() {
					return format.list(cmd.OutOrStdout(), modules.GroupResource(), list)
				}
				return printModules(list.Items, format.format == asWide, cmd.OutOrStdout())
			})
		},
	}
	client.add(cmd, time.Minute)
	format.add(cmd, asJSON, asYAML, asName, asWide)
	return cmd
}

// printModules prints the table of modules; wide shortens nothing, and says where
// the bytes come from, what waits to be promoted and who vouches for what serves.
func printModules(all []unstructured.Unstructured, wide bool, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprint(w, "NAME\tREADY\tSIZE\tHOOKS\tCONVERTS\tDIGEST\tAGE\tREASON")
	if wide {
		fmt.Fprint(w, "\tSOURCE\tCANDIDATE\tSIGNER")
	}
	fmt.Fprintln(w)
	for i := range all {
		obj := &all[i]
		s := statusOf(obj)
		hooks := make([]string, len(s.Hooks))
		for i, h := range s.Hooks {
			hooks[i] = strings.TrimPrefix(h, "wasmgate_")
		}
		most, digest := maxPairs, shortDigest(s.Digest)
		if wide {
			most, digest = len(s.Conversions), s.Digest
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s", obj.GetName(), s.condition(ready).Status, s.Size, strings.Join(hooks, ","), shown(pairs(s.Conversions, most)),
			digest, duration.HumanDuration(time.Since(obj.GetCreationTimestamp().Time)), s.reason())
		if wide {
			fmt.Fprintf(w, "\t%s\t%s\t%s", shown(sourceOf(obj)), s.candidateDigest(), shown(s.signers()))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// reason is why a module is not ready, why its newest content does not serve, or
// what else is wrong with it; "" for nothing.
func (s moduleStatus) reason() (reason string) {
	for _, c := range []metav1.Condition{s.condition(compiled), s.condition(ready), s.condition(pulled)} {
		if c.Status != metav1.ConditionTrue && c.Reason != "" {
			reason = c.Reason
		}
	}
	for _, c := range []metav1.Condition{s.condition(healthy), s.condition(conversionsComplete)} {
		if reason == "" && c.Status == metav1.ConditionFalse {
			reason = c.Reason
		}
	}
	return reason
}

// moduleSigner vouches for what serves.
type moduleSigner struct{ Trust, Authority string }

// signers are who vouches for what serves, "" for nobody.
func (s moduleStatus) signers() string {
	var all []string
	for _, by := range s.SignedBy {
		all = append(all, by.Authority)
	}
	return strings.Join(all, ",")
}

// candidateDigest is the digest of what waits to be promoted, "" for nothing.
func (s moduleStatus) candidateDigest() string {
	if s.Candidate == nil {
		return ""
	}
	return s.Candidate.Digest
}

// sourceOf is where the bytes of a module come from: upload, inline or an image.
func sourceOf(obj *unstructured.Unstructured) string {
	if image, ok, _ := unstructured.NestedString(obj.Object, "spec", "source", "oci", "image"); ok {
		return image
	}
	if isUpload(obj) {
		return "upload"
	}
	return "inline"
}

// reporter prints what a command did with a module.
type reporter struct {
	format output
	// out is for what the command prints, errOut for warnings.
	out, errOut io.Writer
}

// done prints what was done with the content that has the digest, or for programs the
// module as it is then. Once that content serves, it warns of conversions that
// definitions need and the module lacks: before, the module says so of what it
// replaces.
func (r *reporter) done(obj *unstructured.Unstructured, digest, did string) error {
	s := statusOf(obj)
	if c := s.condition(conversionsComplete); c.Status == metav1.ConditionFalse && s.serves(digest) {
		fmt.Fprintf(r.errOut, "Warning: wasmmodule/%s lacks conversions: %s\n", obj.GetName(), shown(c.Message))
	}
	if r.format.forPrograms() {
		return r.format.object(r.out, modules.GroupResource(), obj)
	}
	_, err := fmt.Fprintf(r.out, "wasmmodule/%s %s\n", obj.GetName(), did)
	return err
}

// moduleConversion is what a module says that it converts.
type moduleConversion struct{ Kind, From, To string }

// maxPairs is how many pairs of versions a table shows of a module.
const maxPairs = 3

// pairs are the versions that are converted, in one direction or in both, at most
// so many.
func pairs(all []moduleConversion, most int) string {
	var texts []string
	done := map[moduleConversion]bool{}
	for _, c := range all {
		back := moduleConversion{c.Kind, c.To, c.From}
		arrow := "->"
		if slices.Contains(all, back) {
			arrow = "<->"
		}
		if done[back] {
			continue
		}
		done[c] = true
		text := c.From + arrow + c.To
		if c.Kind != "" {
			text = c.Kind + ":" + text
		}
		texts = append(texts, text)
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ",")
}

// shortDigest is enough of a digest for a person to compare.
func shortDigest(d string) string {
	return strings.TrimPrefix(d, "sha256:")[:min(12, len(strings.TrimPrefix(d, "sha256:")))]
}

// noModules explains an answer from a server that has no modules.
func noModules(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the server has no WasmModule (wasmgate.dev/v1): is it a wasmgate? (%w)", err)
	}
	return err
}

// noModule explains an answer about one module.
func noModule(name string, err error) error {
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse): // the path is unknown, too
		return noModules(err)
	case apierrors.IsNotFound(err) && namedIn(err) == name: // rather than something of it
		return fmt.Errorf("there is no module %q; see: wasmgate module list (%w)", name, err)
	}
	return err
}

// namedIn is the name of what an answer from the server is about, "" where it does not say.
func namedIn(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	return status.Status().Details.Name
}

// newModuleObject is a module whose bytes are uploaded.
func newModuleObject(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": modules.GroupVersion().String(),
		"kind":       "WasmModule",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"source": map[string]any{"upload": map[string]any{}}},
	}}
}

// isUpload tells whether the module's bytes are uploaded rather than written
// in its spec.
func isUpload(obj *unstructured.Unstructured) bool {
	_, ok, err := unstructured.NestedFieldNoCopy(obj.Object, "spec", "source", "upload")
	return ok && err == nil
}
