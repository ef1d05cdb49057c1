package extend

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/translate"
	"github.com/wasmgate/wasmgate/crd/builtin/warnings"
)

// Functions are what a kind needs that no file can say. Those that are nil do nothing;
// trees are changed in place; old is nil for a new object.
type Functions struct {
	// FromClient completes what a client sent, before defaults.
	FromClient func(obj map[string]any)
	// Defaults come before those of the file.
	Defaults func(obj map[string]any)
	// PrepareCreate may find in ctx who asks.
	PrepareCreate func(ctx context.Context, obj map[string]any)
	PrepareUpdate func(subresource string, obj, old map[string]any)
	Canonicalize  func(obj map[string]any)
	Validate      func(subresource string, obj, old map[string]any) field.ErrorList
	// ValidateAll takes the place of all other checks, those of metadata and of the
	// file included, where what is wrong is told in an order of the kind's own.
	ValidateAll func(subresource string, obj, old map[string]any) field.ErrorList
	// Warn is that of package warnings, where the kind has none of its own.
	Warn warnings.Warn
	// RowOrder is that of rows in tables, where it is not that of names.
	RowOrder func(a, b map[string]any) int
	Hooks    crd.Hooks
	Grace    func(obj map[string]any, asked *int64) int64
	// Layouts are those of versions that have other fields than the storage
	// version.
	Layouts Layouts
}

// Of are the functions of a kind, by its group and plural; the zero value for those that
// need none.
func Of(gr schema.GroupResource) Functions {
	f := functions[gr]
	if f.Warn == nil {
		f.Warn = warnings.Of(gr)
	}
	return f
}

var functions = map[schema.GroupResource]Functions{
	{Resource: "pods"}:                   {Defaults: completePod, PrepareCreate: preparePod, PrepareUpdate: narrowPod, Validate: validatePod, Grace: podGrace},
	{Resource: "persistentvolumeclaims"}: {Defaults: pairPlainSource, PrepareCreate: prepareVolumeClaim, PrepareUpdate: prepareVolumeClaimUpdate},
	{Resource: "events"}: {
		ValidateAll: checked(validateEvent),
		Layouts:     Layouts{"events.k8s.io/v1": newLayout(translate.CoreEvent, translate.Event).judgedBy(checked(validateStrictEvent))},
	},
	{Resource: "secrets"}: {Defaults: moveStringData, PrepareUpdate: keepSecretType, ValidateAll: checked(validateSecret), Warn: warnSecret},
	{Resource: "namespaces"}: {
		Defaults: labelNamespace, PrepareCreate: finalizeNamespace, PrepareUpdate: keepFinalizers,
		Canonicalize: labelNamespace, ValidateAll: checked(validateNamespace), Hooks: namespaceHooks{},
	},
	{Group: "apiregistration.k8s.io", Resource: "apiservices"}:                             {PrepareCreate: prepareAPIService, ValidateAll: checked(validateAPIService)},
	{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}:               {ValidateAll: checked(validateMigration)},
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   {ValidateAll: checked(webhookCheck(validatingHooks)), Warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     {ValidateAll: checked(webhookCheck(mutatingHooks)), Warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       {ValidateAll: checked(validateValidatingPolicy), Warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         {ValidateAll: checked(validateMutatingPolicy), Warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: {ValidateAll: checked(validateValidatingBinding), Warn: warnStaticName},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   {ValidateAll: checked(validateMutatingBinding), Warn: warnStaticName},
	{Group: "scheduling.k8s.io", Resource: "priorityclasses"}:                              {Hooks: priorityHooks{}},
	{Group: "flowcontrol.apiserver.k8s.io", Resource: "flowschemas"}:                       {RowOrder: byPrecedence},
	{Resource: "services"}:                                                 {PrepareUpdate: dropBalancer, Validate: validateService},
	{Group: "networking.k8s.io", Resource: "servicecidrs"}:                 {Validate: validateServiceCIDR},
	{Resource: "limitranges"}:                                              {PrepareCreate: nameLimitRange, Validate: validateLimitRange},
	{Resource: "resourcequotas"}:                                           {Validate: validateQuota},
	{Resource: "persistentvolumes"}:                                        {PrepareCreate: prepareVolume, PrepareUpdate: notePhase},
	{Group: "apps", Resource: "daemonsets"}:                                {FromClient: countNoTemplate, PrepareCreate: prepareDaemonSet, PrepareUpdate: countTemplate},
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:                  {Validate: validateDeviceClass},
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:                 {PrepareUpdate: dropDeallocated, Validate: validateClaim},
	{Group: "resource.k8s.io", Resource: "resourceslices"}:                 {FromClient: dateTaints, Validate: validateSlice},
	{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}:         {Validate: validateClaimTemplate},
	{Group: "discovery.k8s.io", Resource: "endpointslices"}:                {PrepareCreate: dropTopology, PrepareUpdate: keepTopology},
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: {PrepareCreate: prepareSigningRequest, PrepareUpdate: narrowSigning, Validate: validateSigning},
	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}:           {Defaults: plainAutoscaler, Layouts: Layouts{"autoscaling/v1": newLayout(translate.AutoscalerV2, translate.AutoscalerV1)}},
	{Group: "batch", Resource: "jobs"}:                                     {PrepareCreate: prepareJob, Defaults: defaultJob, Validate: validateJob},
	{Resource: "serviceaccounts"}: {
		PrepareCreate: func(_ context.Context, obj map[string]any) { cleanSecretReferences(obj) },
		PrepareUpdate: func(_ string, obj, _ map[string]any) { cleanSecretReferences(obj) },
		Warn:          warnServiceAccount,
	},
}
