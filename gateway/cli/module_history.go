package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/dynamic"
)

// moduleRevision is content that served.
type moduleRevision struct {
	Digest string      `json:"digest"`
	Size   int64       `json:"size"`
	Since  metav1.Time `json:"since"`
}

func newModuleHistory() *cobra.Command {
	var client clientFlags
	var format output
	cmd := &cobra.Command{
		Use:               "history NAME",
		Short:             "List the contents of a module that were in use and are kept",
		Args:              arguments(1, 1),
		ValidArgsFunction: client.completeModule,
		RunE: func(cmd *cobra.Command, args []string) error {
			return client.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
				obj, err := objects.Get(ctx, args[0], metav1.GetOptions{})
				if err != nil {
					return noModule(args[0], err)
				}
				if format.forPrograms() {
					return format.value(cmd.OutOrStdout(), revisionsOf(obj))
				}
				return printHistory(obj, cmd.OutOrStdout())
			})
		},
	}
	client.add(cmd, time.Minute)
	format.add(cmd, asJSON, asYAML)
	return cmd
}

// shownRevision is content that served, as it is printed for programs.
type shownRevision struct {
	moduleRevision
	Serves bool `json:"serves"`
}

// revisionsOf are the contents of a module that served, the last first.
func revisionsOf(obj *unstructured.Unstructured) []shownRevision {
	s, out := statusOf(obj), []shownRevision{}
	for _, r := range s.Revisions {
		out = append(out, shownRevision{r, r.Digest == s.Digest})
	}
	return out
}

func printHistory(obj *unstructured.Unstructured, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "DIGEST\tSIZE\tIN USE SINCE\tIN USE")
	for _, r := range revisionsOf(obj) {
		serves := ""
		if r.Serves {
			serves = "yes"
		}
		fmt.Fprintf(w, "%s\t%d\t%s ago\t%s\n", r.Digest, r.Size, duration.HumanDuration(time.Since(r.Since.Time)), serves)
	}
	return w.Flush()
}

// rollbackCommand is one run of `wasmgate module rollback`.
type rollbackCommand struct {
	client clientFlags
	push   pushCommand
}

func newModuleRollback() *cobra.Command {
	r := &rollbackCommand{}
	cmd := &cobra.Command{
		Use:   "rollback NAME [DIGEST]",
		Short: "Go back to earlier content of a module",
		Long: "Go back to content of a module that was in use before: to the content before the\n" +
			"present one, or to the one whose digest begins with DIGEST. Newer content that is not\n" +
			"in use, because it waits to be promoted or was refused, is dropped. Configuration and\n" +
			"limits stay as they are. See the contents with: wasmgate module history NAME",
		Example:           "  wasmgate module rollback crontab",
		Args:              arguments(1, 2),
		ValidArgsFunction: r.client.completeModule,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.push.out, r.push.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return r.client.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
				return r.run(ctx, objects, args[0], strings.Join(args[1:], ""))
			})
		},
	}
	r.client.add(cmd, 5*time.Minute)
	r.push.format.add(cmd, asJSON, asYAML, asName)
	return cmd
}

// choose wants earlier content back, and returns which, and the module as it was. What
// somebody pushes meanwhile is not dropped unseen.
func choose(ctx context.Context, objects dynamic.ResourceInterface, name, prefix string) (obj *unstructured.Unstructured, digest string, err error) {
	for range maxConflicts {
		if obj, err = objects.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return nil, "", noModule(name, err)
		}
		if !isUpload(obj) {
			return nil, "", fmt.Errorf("the content of wasmmodule/%s is in its spec.source: restore the earlier spec.source instead", name)
		}
		if digest, err = earlier(obj, prefix); err != nil {
			return nil, "", fmt.Errorf("wasmmodule/%s: %w", name, err)
		}
		if err = change(ctx, objects, name, asRead(obj, choice(obj, digest))); !apierrors.IsConflict(err) {
			break
		}
	}
	return obj, digest, err
}

// maxConflicts is how often a module is read again that others change, too.
const maxConflicts = 10

// asRead lets a patch fail where the object is no longer what was read.
func asRead(obj *unstructured.Unstructured, patch map[string]any) map[string]any {
	if meta, ok := patch["metadata"].(map[string]any); ok {
		meta["resourceVersion"] = obj.GetResourceVersion()
	} else {
		patch["metadata"] = map[string]any{"resourceVersion": obj.GetResourceVersion()}
	}
	return patch
}

func (r *rollbackCommand) run(ctx context.Context, objects dynamic.ResourceInterface, name, prefix string) error {
	obj, digest, err := choose(ctx, objects, name, prefix)
	if err != nil {
		return err
	}
	now, waits, err := r.push.awaitReady(ctx, objects, obj, digest)
	if waits { // it served before, and is wanted back now
		now, err = promote(ctx, objects, name, digest, "", acceptsAnything)
	}
	if err != nil {
		return err
	}
	served, wanted := serving(obj), chosen(obj)
	did := fmt.Sprintf("rolled back: %s", digest)
	if served == digest {
		did = fmt.Sprintf("keeps serving: %s", digest)
	}
	if wanted != "" && wanted != served {
		did += fmt.Sprintf("; content %s, which did not serve, was dropped", wanted)
	}
	return r.push.done(now, digest, did)
}

// serving is the content that serves calls, "" for none.
func serving(obj *unstructured.Unstructured) string {
	s := statusOf(obj)
	if s.condition(ready).Status != metav1.ConditionTrue {
		return ""
	}
	return s.Digest
}

// chosen is the content that the module asks for, "" for none yet.
func chosen(obj *unstructured.Unstructured) string {
	if digest := pinned(obj); digest != "" {
		return digest
	}
	return obj.GetAnnotations()[contentAnnotation]
}

// pinned is the digest that the spec pins, "" for none.
func pinned(obj *unstructured.Unstructured) string {
	digest, _, _ := unstructured.NestedString(obj.Object, "spec", "source", "upload", "digest")
	return digest
}

// choice is a patch that makes a digest the content, where the module says so.
func choice(obj *unstructured.Unstructured, digest string) map[string]any {
	if pinned(obj) != "" {
		return map[string]any{"spec": map[string]any{"source": map[string]any{"upload": map[string]any{"digest": digest}}}}
	}
	return annotation(contentAnnotation, digest)
}

// earlier finds the content to go back to: from what serves, and where nothing
// does, from what should. What serves can be named itself when something newer
// does not.
func earlier(obj *unstructured.Unstructured, prefix string) (string, error) {
	present, wanted := serving(obj), chosen(obj)
	if present == "" || prefix != "" {
		present = wanted
	}
	var others []string
	for _, r := range statusOf(obj).Revisions {
		if r.Digest != present {
			others = append(others, r.Digest)
		}
	}
	return chooseDigest(others, prefix, "no other content was in use before", "no other content that was in use before has a digest that")
}
