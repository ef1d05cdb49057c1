package builtin

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/translate"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// extension is what a kind needs that no file can say. Functions that are nil
// do nothing; trees are changed in place; old is nil for a new object.
type extension struct {
	// fromClient completes what a client sent, before defaults.
	fromClient func(obj map[string]any)
	// defaults come before those of the file.
	defaults func(obj map[string]any)
	// prepareCreate may find in ctx who asks.
	prepareCreate func(ctx context.Context, obj map[string]any)
	prepareUpdate func(subresource string, obj, old map[string]any)
	canonicalize  func(obj map[string]any)
	validate      func(subresource string, obj, old map[string]any) field.ErrorList
	// validateAll takes the place of all other checks, those of metadata and of the
	// file included, where what is wrong is told in an order of the kind's own.
	validateAll func(subresource string, obj, old map[string]any) field.ErrorList
	warn        func(obj, old map[string]any) []string
	hooks       crd.Hooks
	grace       func(obj map[string]any, asked *int64) int64
	// layouts are those of versions that have other fields than the storage
	// version.
	layouts layouts
}

// extensions are by group and plural.
var extensions = map[schema.GroupResource]extension{
	{Resource: "pods"}:                   {defaults: completePod, prepareCreate: preparePod, prepareUpdate: narrowPod, validate: validatePod, grace: podGrace},
	{Resource: "persistentvolumeclaims"}: {prepareCreate: prepareVolumeClaim, prepareUpdate: prepareVolumeClaimUpdate},
	{Resource: "events"}: {
		validateAll: checked(validateEvent),
		layouts:     layouts{"events.k8s.io/v1": newLayout(translate.CoreEvent, translate.Event).judgedBy(checked(validateStrictEvent))},
	},
	{Resource: "secrets"}: {defaults: moveStringData, prepareUpdate: keepSecretType, validateAll: checked(validateSecret), warn: warnSecret},
	{Resource: "namespaces"}: {
		defaults: labelNamespace, prepareCreate: finalizeNamespace, prepareUpdate: keepFinalizers,
		canonicalize: labelNamespace, validateAll: checked(validateNamespace), hooks: namespaceHooks{},
	},
	{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}:               {validateAll: checked(validateMigration)},
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   {validateAll: checked(webhookCheck(validatingHooks)), warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     {validateAll: checked(webhookCheck(mutatingHooks)), warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       {validateAll: checked(validateValidatingPolicy), warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         {validateAll: checked(validateMutatingPolicy), warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: {validateAll: checked(validateValidatingBinding), warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   {validateAll: checked(validateMutatingBinding), warn: warnStaticName},
	{Resource: "services"}:                                                 {validate: validateService},
	{Group: "networking.k8s.io", Resource: "servicecidrs"}:                 {validate: validateServiceCIDR},
	{Resource: "limitranges"}:                                              {prepareCreate: nameLimitRange, validate: validateLimitRange},
	{Resource: "resourcequotas"}:                                           {validate: validateQuota},
	{Resource: "persistentvolumes"}:                                        {prepareCreate: prepareVolume, prepareUpdate: notePhase},
	{Group: "apps", Resource: "daemonsets"}:                                {fromClient: countNoTemplate, prepareCreate: prepareDaemonSet, prepareUpdate: countTemplate},
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:                  {validate: validateDeviceClass},
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:                 {validate: validateClaim},
	{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}:         {validate: validateClaimTemplate},
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: {prepareCreate: prepareSigningRequest, prepareUpdate: narrowSigning, validate: validateSigning},
	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}:           {defaults: plainAutoscaler, layouts: layouts{"autoscaling/v1": newLayout(translate.AutoscalerV2, translate.AutoscalerV1)}},
	{Group: "batch", Resource: "jobs"}:                                     {prepareCreate: prepareJob, defaults: defaultJob, validate: validateJob},
	{Resource: "serviceaccounts"}: {
		prepareCreate: func(_ context.Context, obj map[string]any) { cleanSecretReferences(obj) },
		prepareUpdate: func(_ string, obj, _ map[string]any) { cleanSecretReferences(obj) },
		warn:          warnServiceAccount,
	},
}

// topFields are the fields of objects of Go type t.
func topFields(t reflect.Type) []string {
	var out []string
	for _, f := range crdschema.Fields(t) {
		out = append(out, f.Name)
	}
	return out
}
