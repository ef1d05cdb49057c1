package write

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
)

var _ admission.Attributes = attributes{}

// attributes are a write as admission sees it.
type attributes struct{ *Write }

// GetOperation implements [admission.Request].
func (w attributes) GetOperation() admission.Operation { return w.operation }

// GetOperationOptions implements [admission.Request]. They are made once.
func (w attributes) GetOperationOptions() runtime.Object {
	if w.asked == nil {
		w.asked = w.operationOptions()
	}
	return w.asked
}

func (w attributes) operationOptions() runtime.Object {
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{Kind: name, APIVersion: metav1.SchemeGroupVersion.String()}
	}
	var dryRun []string
	if w.Options.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	manager, validation := w.Options.Caller.FieldManager, w.Options.FieldValidation
	switch w.operation {
	case admission.Create:
		return &metav1.CreateOptions{TypeMeta: kind("CreateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	case admission.Connect:
		return nil
	case admission.Update:
		return &metav1.UpdateOptions{TypeMeta: kind("UpdateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	}
	out := &metav1.DeleteOptions{}
	if d, ok := w.source.(deleting); ok {
		out = d.options.DeepCopy()
	}
	out.TypeMeta, out.DryRun = kind("DeleteOptions"), dryRun
	return out
}

// GetVerb implements [admission.Verbed].
func (w attributes) GetVerb() string {
	_, patches := w.source.(*patching)
	_, applies := w.source.(*applying)
	switch {
	case w.operation != admission.Create && w.operation != admission.Update:
		return ""
	case patches || applies:
		return "patch"
	case w.operation == admission.Create && !w.put:
		return "create"
	}
	return "update"
}

// Waited implements [admission.Waiting].
func (w attributes) Waited(d time.Duration) {
	if w.Options.Waiting != nil {
		w.Options.Waiting.Waited(d)
	}
}

// IsDryRun implements [admission.Request].
func (w attributes) IsDryRun() bool { return w.Options.DryRun }

// GetUserInfo implements [admission.Request].
func (w attributes) GetUserInfo() admission.User {
	if u := w.Options.Caller.User; u != nil {
		return u
	}
	return authn.AnonymousUser()
}

// IsOwn implements [admission.Request].
func (w attributes) IsOwn() bool { return w.Options.Caller.Own }

// GetResource implements [admission.Resource].
func (w attributes) GetResource() schema.GroupVersionResource {
	return w.Resource.Def.GVR(w.Version.Name)
}

// GetKind implements [admission.Resource].
func (w attributes) GetKind() schema.GroupVersionKind { return w.kind() }

// kind is that of what the request sends.
func (r *request) kind() schema.GroupVersionKind {
	switch {
	case r.sent != nil:
		return *r.sent
	case scales(r.Target) != nil:
		return schema.FromAPIVersionAndKind(scale.APIVersion, scale.Kind)
	}
	return r.GVK()
}

// GetSubresource implements [admission.Resource].
func (w attributes) GetSubresource() string { return w.Subresource }

// GetVersions implements [admission.Resource].
func (w attributes) GetVersions() (out []string) {
	def, group := w.Resource.Def, w.GetResource().Group
	for _, v := range def.Versions {
		if !v.Served || v == w.Version || w.Subresource != "" && v.Subresources[w.Subresource] == nil {
			continue
		}
		gv := def.GVK(v.Name).GroupVersion()
		if gv.Group == group {
			out = append(out, gv.Version)
		} else {
			out = append(out, gv.Group+"/"+gv.Version)
		}
	}
	return out
}

// GetGroups implements [admission.Resource].
func (w attributes) GetGroups() []string { return w.Resource.Def.Groups() }

// versionCalled is what the definition calls a version of the request.
func (w attributes) versionCalled(name string) string {
	if name == w.GetResource().Version {
		return w.Version.Name
	}
	gv := schema.GroupVersion{Group: w.GroupResource().Group, Version: name}
	if group, version, other := strings.Cut(name, "/"); other {
		gv = schema.GroupVersion{Group: group, Version: version}
	}
	if v := w.Resource.Def.At(gv.String()); v != nil {
		return v.Name
	}
	return name // which nobody knows, and the write says so
}

// GetNamespace implements [admission.Named].
func (w attributes) GetNamespace() string {
	if w.Resource.GroupResource() == namespaces {
		return w.objectName()
	}
	return w.Namespace
}

// GetName implements [admission.Named].
func (w attributes) GetName() string {
	if d, ok := w.source.(deleting); ok && d.ofCollection {
		return "" // only the old object tells it, as in kube-apiserver
	}
	return w.objectName()
}

// GetRequestName implements [admission.Named].
func (w attributes) GetRequestName() string { return w.Name }

// objectName is "" while the server has not made it.
func (w attributes) objectName() string {
	if w.operation == admission.Create && w.Subresource == "" {
		return w.object.GetName()
	}
	return w.Name
}

// GetObject implements [admission.Objects].
func (w attributes) GetObject() *unstructured.Unstructured {
	if w.operation == admission.Delete {
		return nil
	}
	return w.object
}

// GetOldObject implements [admission.Objects].
func (w attributes) GetOldObject(ctx context.Context) (*unstructured.Unstructured, error) {
	if !w.stored {
		return w.present.object, nil
	}
	if w.old == nil {
		p, err := readPresent(ctx, w.Target, w.from.Entry, object.Text{})
		if err != nil {
			return nil, err
		}
		w.old = p.object
	}
	return w.old, nil
}

// Annotate implements [admission.Client].
func (w attributes) Annotate(key, value string) { w.Options.AddAnnotation(key, value) }

// Annotates implements [admission.Client].
func (w attributes) Annotates() (any, bodies bool) {
	return w.Options.Annotate != nil, w.Options.Annotate != nil && w.Options.AnnotatesBodies
}

// Warn implements [admission.Client].
func (w attributes) Warn(text string) { w.Options.AddWarning(text) }

// AddErrors implements [admission.Client].
func (w attributes) AddErrors(errs ...*field.Error) { w.mistakes = append(w.mistakes, errs...) }

// GetObjectAt implements [admission.States]. It shares parts with the write.
func (w attributes) GetObjectAt(ctx context.Context, version string) (map[string]any, error) {
	if w.operation == admission.Delete {
		return nil, nil
	}
	if s := w.scaled; s != nil {
		return s.now, s.tell(ctx, &w.request, &w.present, w.owners.next)
	}
	version, tree := w.versionCalled(version), w.object.Object
	if !w.stored {
		tree = maps.Clone(tree)
		if meta, ok := tree["metadata"].(map[string]any); ok {
			tree["metadata"] = maps.Clone(meta)
		}
		object.SetManaged(tree, w.owners.next)
	}
	if w.sent != nil {
		return tree, nil
	}
	if w.object.GetAPIVersion() != w.Resource.Def.APIVersion(version) {
		var err error
		if tree, err = w.Resource.ConvertTree(ctx, tree, version); err != nil {
			return nil, err
		}
	}
	return w.shown(tree)
}

// GetOldObjectAt implements [admission.States].
func (w attributes) GetOldObjectAt(ctx context.Context, version string) (map[string]any, error) {
	if w.from.Entry == nil {
		return nil, nil
	}
	if s := w.scaled; s != nil {
		err := s.tell(ctx, &w.request, &w.present, w.owners.next)
		return object.Clone(s.old), err
	}
	data, err := w.Resource.View(ctx, w.from.Entry, w.versionCalled(version))
	if err != nil {
		return nil, err
	}
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, w.Resource.Unreadable(w.from.Entry, err)
	}
	return w.shown(tree)
}

// shown is the object as the request speaks of it.
func (w attributes) shown(tree map[string]any) (map[string]any, error) {
	paths := scales(w.Target)
	if paths == nil {
		return tree, nil
	}
	out, _, err := scale.Of(paths, tree)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// GetLabels implements [admission.States]. The options of a connection have none, and
// can be selected by none.
func (w attributes) GetLabels() (states []labels.Set, err error) {
	switch {
	case w.operation == admission.Connect:
		return nil, nil
	case scales(w.Target) != nil: // a Scale has none but those that the client sent
		return w.scaled.labels(), nil
	case w.operation != admission.Delete:
		states = append(states, w.object.GetLabels())
	}
	if w.from.Entry != nil {
		var old labels.Set
		if old, err = w.Resource.Labels(w.from.Entry); err == nil {
			states = append(states, old)
		}
	}
	return states, err
}

// Overlay implements [admission.States].
func (w attributes) Overlay(ctx context.Context, version string, part map[string]any) (map[string]any, error) {
	whole, err := w.GetObjectAt(ctx, version)
	if err != nil {
		return nil, err
	}
	owners := w.ownership()
	if owners == nil {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("there is no schema of %v to merge by", w.GetKind()))
	}
	whole = maps.Clone(whole)
	if meta, ok := whole["metadata"].(map[string]any); ok {
		whole["metadata"] = maps.Clone(meta)
	}
	managed := object.Detach(whole)
	out, err := owners.Overlay(w.versionCalled(version), whole, part)
	if err != nil || managed == nil {
		return out, err
	}
	out = maps.Clone(out)
	if meta, ok := out["metadata"].(map[string]any); ok {
		out["metadata"] = maps.Clone(meta)
	}
	object.SetManaged(out, managed)
	return out, nil
}
