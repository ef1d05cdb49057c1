package admitting

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// logPeriod is how often a few failures that were ignored are logged.
const logPeriod = 10 * time.Second

// request is a write as webhooks see it.
func (h *Admission) request(w *resource.Write) *admission.Request {
	def, who := w.Resource.Def, w.Options.Caller.User
	if who == nil {
		who = authn.AnonymousUser()
	}
	r := &admission.Request{
		Operation: string(w.Operation()), Resource: def.GVR(w.Version.Name), Kind: w.Kind(), Subresource: w.Subresource,
		Namespace: w.Namespace, Name: w.Name, User: who, DryRun: w.Options.DryRun, Options: options(w), Objects: states{w}, Namespaces: spaces{w},
		Authorizer: h.authorizer,
		Warn: func(text string) {
			if w.Options.Warn != nil {
				w.Options.Warn(text)
			}
		},
		Ignored: func(hook *admission.Hook, err error) {
			h.log.Warn().Str("configuration", hook.Configuration).Err(err).Msg("failure ignored")
		},
	}
	r.Called = h.called(r)
	for _, v := range def.Versions {
		if v.Served && v.Name != w.Version.Name && (w.Subresource == "" || v.Subresources[w.Subresource] != nil) {
			r.Versions = append(r.Versions, other(def.GVK(v.Name).GroupVersion(), r.Resource.Group))
		}
	}
	if r.Operation == admission.Create && w.Subresource == "" {
		r.Name = w.Object().GetName() // "" until the server has made it
	}
	if def.Group == "" && def.Plural == "namespaces" {
		r.Namespace = r.Name
	}
	if w.OfCollection() {
		r.Name = "" // only the old object tells it, as in kube-apiserver
	}
	return r
}

// other is the name of a version in a request for a resource of a group.
func other(gv schema.GroupVersion, group string) string {
	if gv.Group == group {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

// options are those of the request, in the form that webhooks get.
func options(w *resource.Write) runtime.Object {
	dryRun, manager, validation := dryRun(w.Options), w.Options.Caller.FieldManager, w.Options.FieldValidation
	switch w.Operation() {
	case resource.OperationCreate:
		return &metav1.CreateOptions{TypeMeta: kind("CreateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	case resource.OperationConnect:
		return nil
	case resource.OperationUpdate:
		return &metav1.UpdateOptions{TypeMeta: kind("UpdateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	}
	out := &metav1.DeleteOptions{}
	if o := w.DeleteOptions(); o != nil {
		out = o.DeepCopy()
	}
	out.TypeMeta, out.DryRun = kind("DeleteOptions"), dryRun
	return out
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: name, APIVersion: metav1.SchemeGroupVersion.String()}
}

func dryRun(o resource.WriteOptions) []string {
	if !o.DryRun {
		return nil
	}
	return []string{metav1.DryRunAll}
}

// states implements [admission.Objects].
type states struct{ w *resource.Write }

// name is what the definition calls a version of the request.
func (s states) name(version string) string {
	gv := schema.GroupVersion{Group: s.w.GroupResource().Group, Version: version}
	if group, name, other := strings.Cut(version, "/"); other {
		gv = schema.GroupVersion{Group: group, Version: name}
	}
	if v := s.w.Resource.Def.At(gv.String()); v != nil {
		return v.Name
	}
	return version // which nobody knows, and the write says so
}

// New implements [admission.Objects].
func (s states) New(ctx context.Context, version string) (map[string]any, error) {
	return s.w.NewAt(ctx, s.name(version))
}

// Old implements [admission.Objects].
func (s states) Old(ctx context.Context, version string) (map[string]any, error) {
	return s.w.OldAt(ctx, s.name(version))
}

// Labels implements [admission.Objects].
func (s states) Labels() ([]labels.Set, error) { return s.w.Labels() }

// Replace implements [admission.Objects].
func (s states) Replace(ctx context.Context, version string, tree map[string]any) error {
	return s.w.Replace(ctx, s.name(version), tree)
}

// Overlay implements [admission.Objects].
func (s states) Overlay(ctx context.Context, version string, part map[string]any) (map[string]any, error) {
	return s.w.OverlayAt(ctx, s.name(version), part)
}

// spaces implements [admission.Namespaces].
type spaces struct{ w *resource.Write }

// Labels implements [admission.Namespaces].
func (s spaces) Labels(ctx context.Context, name string) (labels.Set, error) {
	return s.w.NamespaceLabels(ctx, name)
}

// Namespace implements [admission.Namespaces].
func (s spaces) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return s.w.NamespaceObject(ctx, name)
}

// authorizes answers conditions.
type authorizes struct{ authz.Authorizer }

// Authorize implements [authorizer.UnconditionalAuthorizer].
func (a authorizes) Authorize(ctx context.Context, q authorizer.Attributes) (authorizer.Decision, string, error) {
	u := q.GetUser()
	var narrowed authz.Selectors
	narrowed.Fields, narrowed.FieldsErr = q.GetFieldSelector()
	narrowed.Labels, narrowed.LabelsErr = q.GetLabelSelector()
	allowed, reason, err := a.Authorizer.Authorize(ctx, authz.Attributes{
		User: &authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()},
		Verb: q.GetVerb(), Group: q.GetAPIGroup(), Version: q.GetAPIVersion(), Resource: q.GetResource(), Subresource: q.GetSubresource(),
		Namespace: q.GetNamespace(), Name: q.GetName(), Selectors: narrowed, Path: q.GetPath(), ResourceRequest: q.IsResourceRequest(),
	})
	if allowed {
		return authorizer.DecisionAllow, reason, err
	}
	return authorizer.DecisionNoOpinion, reason, err
}
