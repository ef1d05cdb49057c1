package definition

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// AllowLossAnnotation with "true" lets a definition lose a converter that stored
// objects need; with "false" not even a webhook is dropped, which without it is warned of.
const AllowLossAnnotation = "conversion.wasmgate.dev/allow-loss"

// conversionLoss refuses an update of a definition that drops the converter while
// objects are stored that need it: from then on they would be read at other versions
// as if these had the same fields, and what they do not have would be pruned. It warns
// where the converter was a webhook, as clients of kube-apiserver drop those and take for
// granted that they may. One that names another converter is refused where that loses what
// the former one keeps.
type conversionLoss struct {
	// any tells whether there are stored objects of a custom resource, and some reads
	// the first ones.
	any  func(context.Context, schema.GroupResource) (bool, error)
	some func(ctx context.Context, gr schema.GroupResource, n int) ([]map[string]any, error)
	// compile and convert make what a definition would be served as, and its converter.
	compile catalog.Compiler
	convert catalog.ConverterFactory
}

var _ admission.Validator = conversionLoss{}

// Name implements [admission.Plugin].
func (conversionLoss) Name() string { return order.ConversionLoss }

// Validate implements [admission.Validator].
func (p conversionLoss) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != gvr.Definitions || a.GetSubresource() != "" || a.GetOperation() != admission.Update {
		return nil
	}
	now := a.GetObject()
	if now.GetAnnotations()[AllowLossAnnotation] == "true" {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil || old == nil || !converts(old) || converts(now) && !replaces(old, now) {
		return err
	}
	from, to, needed := needed(old, now)
	if !needed {
		return nil
	}
	group, _, _ := unstructured.NestedString(old.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(old.Object, "spec", "names", "plural")
	gr := schema.GroupResource{Group: group, Resource: plural}
	if some, err := p.any(ctx, gr); err != nil || !some {
		return err
	}
	why := "without a converter the fields in which these differ are lost in silence"
	switch {
	case converts(now):
		lost, warning, err := p.takesOver(ctx, gr, old, now)
		if warning != "" {
			a.Warn(warning)
		}
		if err != nil || lost == "" {
			return err
		}
		why = "the new converter converts less than the present one: " + lost
	case isRemote(old) && !guarded(old, now):
		a.Warn(fmt.Sprintf("spec.conversion: objects may be stored at %s (status.storedVersions), and %s is served: "+
			"without the webhook the fields in which these differ are lost when they are written", from, to))
		return nil
	}
	return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{field.Forbidden(field.NewPath("spec", "conversion"), fmt.Sprintf(
		"objects may be stored at %s (status.storedVersions), and %s is served: %s; "+
			"migrate the objects and serve one version first, or set the annotation %s to \"true\"", from, to, why, AllowLossAnnotation))})
}

// converts tells that a definition has a converter.
func converts(o *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(o.Object, "spec", "conversion", "strategy")
	return strategy == string(apiextensionsv1.WebhookConverter)
}

// isRemote tells that a definition's converter is a webhook somewhere else, as
// kube-apiserver has them, and not a module or rules.
func isRemote(o *unstructured.Unstructured) bool {
	address, _, _ := unstructured.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	_, module := crd.ModuleName(address)
	_, rules := crd.RulesName(address)
	return !module && !rules
}

// guarded tells that a definition asks to keep its converter, before or after an update.
func guarded(old, now *unstructured.Unstructured) bool {
	return old.GetAnnotations()[AllowLossAnnotation] == "false" || now.GetAnnotations()[AllowLossAnnotation] == "false"
}

// needed are a version that objects of old are stored at and another one that now
// serves.
func needed(old, now *unstructured.Unstructured) (from, to string, ok bool) {
	stored, _, _ := unstructured.NestedStringSlice(old.Object, "status", "storedVersions")
	versions, _, _ := unstructured.NestedSlice(now.Object, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		if i := slices.IndexFunc(stored, func(s string) bool { return s != name }); v["served"] == true && i >= 0 {
			return stored[i], name, true
		}
	}
	return "", "", false
}
