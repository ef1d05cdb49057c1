package extend

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/translate"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Older are versions that kube-apiservers of long ago stored a kind at, by their
// apiVersion, where they differ from the storage version by more than their name.
type Older map[string]*Elder

// Elder is one of them.
type Elder struct {
	Fresh func() object.GoObject
	// Renew makes an object of the storage version of what was read into one that Fresh made.
	Renew func(object.GoObject) (object.GoObject, error)
}

// OlderOf are those of a kind, by its group and plural.
func OlderOf(gr schema.GroupResource) Older { return older[gr] }

const (
	rbacAlpha    = "rbac.authorization.k8s.io/v1alpha1"
	resourceBeta = "resource.k8s.io/v1beta1"
	appsBeta     = "apps/v1beta1"
	webhookBeta  = "admissionregistration.k8s.io/v1beta1"
	extensions   = "extensions/v1beta1"
)

var older = map[schema.GroupResource]Older{
	{Group: "networking.k8s.io", Resource: "ingresses"}:                                  {"networking.k8s.io/v1beta1": renewing(translate.Ingress), extensions: renewing(translate.Ingress)},
	{Group: "discovery.k8s.io", Resource: "endpointslices"}:                              {"discovery.k8s.io/v1beta1": renewing(translate.EndpointSlice)},
	{Group: "policy", Resource: "poddisruptionbudgets"}:                                  {"policy/v1beta1": renewing(translate.DisruptionBudget)},
	{Group: "flowcontrol.apiserver.k8s.io", Resource: "prioritylevelconfigurations"}:     {"flowcontrol.apiserver.k8s.io/v1beta3": renewing(translate.PriorityLevel), "flowcontrol.apiserver.k8s.io/v1beta2": renewing(olderPriorityLevel), "flowcontrol.apiserver.k8s.io/v1beta1": renewing(olderPriorityLevel)},
	{Group: "node.k8s.io", Resource: "runtimeclasses"}:                                   {"node.k8s.io/v1alpha1": renewing(translate.RuntimeClass)},
	{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:                       {rbacAlpha: renewing(translate.ClusterRole)},
	{Group: "rbac.authorization.k8s.io", Resource: "roles"}:                              {rbacAlpha: renewing(translate.Role)},
	{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}:                {rbacAlpha: renewing(translate.ClusterRoleBinding)},
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}:                       {rbacAlpha: renewing(translate.RoleBinding)},
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:                                {resourceBeta: renewing(olderDeviceClass)},
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:                               {resourceBeta: renewing(olderResourceClaim)},
	{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}:                       {resourceBeta: renewing(olderResourceClaimTemplate)},
	{Group: "resource.k8s.io", Resource: "resourceslices"}:                               {resourceBeta: renewing(olderResourceSlice)},
	{Group: "apps", Resource: "deployments"}:                                             {appsBeta: renewing(olderDeployment), extensions: renewing(oldestDeployment)},
	{Group: "apps", Resource: "replicasets"}:                                             {extensions: renewing(oldestReplicaSet)},
	{Group: "apps", Resource: "daemonsets"}:                                              {extensions: renewing(oldestDaemonSet)},
	{Group: "apps", Resource: "statefulsets"}:                                            {appsBeta: renewing(olderStatefulSet)},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:   {webhookBeta: renewing(olderMutatingWebhooks)},
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}: {webhookBeta: renewing(olderValidatingWebhooks)},
}

func renewing[V, H any, PV goType[V], PH goType[H]](renew func(*V) (*H, error)) *Elder {
	return &Elder{
		Fresh: func() object.GoObject { return PV(new(V)) },
		Renew: func(in object.GoObject) (object.GoObject, error) {
			out, err := renew((*V)(in.(PV)))
			return PH(out), err
		},
	}
}
