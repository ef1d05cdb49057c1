// Package podsecurity owns the admission plugin PodSecurity: which pods a namespace
// takes, by its labels pod-security.kubernetes.io/*, as k8s.io/pod-security-admission
// judges them (the Pod Security Standards).
//
// It must not know who stores or serves objects: pods it is given, and namespaces are
// those that admission knows.
package podsecurity

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/pod-security-admission/admission"
	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/plugin"
)

// Recorder counts what the plugins of the process decide, in metrics whose names begin
// with pod_security_.
var Recorder = metrics.NewPrometheusRecorder(api.GetAPIVersion())

var (
	pods       = schema.GroupResource{Resource: "pods"}
	namespaces = schema.GroupResource{Resource: "namespaces"}
)

// PodSecurity is the plugin. It is safe for concurrent use.
type PodSecurity struct{ judge *library.Admission }

// New makes it of a PodSecurityConfiguration of pod-security.admission.config.k8s.io,
// as text; of none what is usual is made: namespaces without labels take every pod.
// The release, major and minor, is what "latest" means. Pods are those that are looked
// at when a namespace asks for more than before.
func New(configuration []byte, release [2]int, objects plugin.Reader) (*PodSecurity, error) {
	c, err := load.LoadFromData(configuration)
	if err != nil {
		return nil, err
	}
	latest := api.MajorMinorVersion(release[0], release[1])
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), &latest)
	if err != nil {
		return nil, err
	}
	judge := &library.Admission{
		Configuration: c, Evaluator: evaluator, Metrics: Recorder, PodSpecExtractor: library.DefaultPodSpecExtractor{},
		NamespaceGetter: asked{}, PodLister: lister{objects},
	}
	if err := judge.CompleteConfiguration(); err != nil {
		return nil, err
	}
	return &PodSecurity{judge}, judge.ValidateConfiguration()
}

// Name implements [admission.Plugin].
func (*PodSecurity) Name() string { return order.PodSecurity }

// Validate implements [admission.Validator].
func (p *PodSecurity) Validate(ctx context.Context, a admission.Attributes) error {
	gr, operation := a.GetResource().GroupResource(), a.GetOperation()
	if operation != admission.Create && operation != admission.Update {
		return nil
	}
	if gr != namespaces && !p.judge.PodSpecExtractor.HasPodSpec(gr) {
		return nil
	}
	// What the library would look at no closer; a status is written often.
	if sub := a.GetSubresource(); sub != "" && (gr != pods || sub != "ephemeralcontainers" && sub != "resize") {
		return nil
	}
	if err := bounded(a); err != nil {
		return err
	}
	said := p.judge.Validate(context.WithValue(ctx, asked{}, a), &attributes{Attributes: a, ctx: ctx})
	for _, w := range said.Warnings {
		a.Warn(w)
	}
	for key, value := range said.AuditAnnotations {
		a.Annotate(api.AuditAnnotationPrefix+key, value)
	}
	if said.Allowed {
		return nil
	}
	return refusal(a, said)
}

// refusal is what the client reads.
func refusal(a admission.Attributes, said *admissionv1.AdmissionResponse) error {
	//lint:ignore ST1005 as kube-apiserver says it
	refused := apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), errors.New("Not allowed by PodSecurity"))
	if r := said.Result; r != nil {
		if r.Message != "" {
			refused.ErrStatus.Message = r.Message
		}
		if r.Reason != "" {
			refused.ErrStatus.Reason = r.Reason
		}
		if r.Details != nil {
			refused.ErrStatus.Details = r.Details
		}
		if r.Code != 0 {
			refused.ErrStatus.Code = r.Code
		}
	}
	return refused
}

// most is how many ephemeral containers a pod has that is judged: the library compares
// those of both states each with all others.
const most = 2000

func bounded(a admission.Attributes) error {
	spec, _ := a.GetObject().Object["spec"].(map[string]any)
	if all, _ := spec["ephemeralContainers"].([]any); len(all) > most {
		return apierrors.NewForbidden(pods, admission.NameOf(a), fmt.Errorf("it has more than %d ephemeral containers", most))
	}
	return nil
}
