package plugin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// always is the policy of who asks the registry each time, with the credentials of the
// pod.
const always = "Always"

// AlwaysPullImages has every image pulled anew, so that nobody runs one that only
// somebody else may pull.
type AlwaysPullImages struct{}

// Name implements [admission.Plugin].
func (AlwaysPullImages) Name() string { return order.AlwaysPullImages }

// Edits implements [admission.Editor].
func (AlwaysPullImages) Edits(_ admission.Operation, gr schema.GroupResource, subresource string) bool {
	return gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (AlwaysPullImages) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	if same, err := sameImages(ctx, a, tree); same || err != nil {
		return false, err
	}
	eachImage(tree, func(_ *field.Path, of map[string]any, policy string) {
		if of[policy] != always {
			of[policy], changed = always, true
		}
	})
	return changed, nil
}

// Validate implements [admission.Validator].
func (AlwaysPullImages) Validate(ctx context.Context, a admission.Attributes) error {
	gr, operation := a.GetResource().GroupResource(), a.GetOperation()
	if gr != pods || a.GetSubresource() != "" || operation != admission.Create && operation != admission.Update {
		return nil
	}
	tree := a.GetObject().Object
	if same, err := sameImages(ctx, a, tree); same || err != nil {
		return err
	}
	var errs []error
	eachImage(tree, func(at *field.Path, of map[string]any, policy string) {
		if is, _ := of[policy].(string); is != always && len(errs) < mostMistakes {
			errs = append(errs, apierrors.NewForbidden(pods, admission.NameOf(a), field.NotSupported(at.Child(policy), is, []string{always})))
		}
	})
	return utilerrors.NewAggregate(errs)
}

// mostMistakes is how many mistakes of one object are told.
const mostMistakes = 100

// sameImages tells that an update brings no image that the pod had not.
func sameImages(ctx context.Context, a admission.Attributes, tree map[string]any) (bool, error) {
	if a.GetOperation() != admission.Update {
		return false, nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return false, err
	}
	had := map[string]bool{}
	eachContainer(old.Object, func(_ *field.Path, c map[string]any) { had[fmt.Sprint(c["image"])] = true })
	same := true
	eachContainer(tree, func(_ *field.Path, c map[string]any) { same = same && had[fmt.Sprint(c["image"])] })
	return same, nil
}

// eachImage calls fn with each part of a pod that has an image, and its field that says
// when it is pulled.
func eachImage(tree map[string]any, fn func(at *field.Path, of map[string]any, policy string)) {
	eachContainer(tree, func(at *field.Path, c map[string]any) { fn(at, c, "imagePullPolicy") })
	volumes, _ := object.Child(tree, "spec")["volumes"].([]any)
	for i, v := range volumes {
		v, _ := v.(map[string]any)
		if image := object.Child(v, "image"); image != nil {
			fn(field.NewPath("spec", "volumes").Index(i).Child("image"), image, "pullPolicy")
		}
	}
}

func eachContainer(tree map[string]any, fn func(at *field.Path, c map[string]any)) {
	for _, name := range []string{"initContainers", "containers", "ephemeralContainers"} {
		all, _ := object.Child(tree, "spec")[name].([]any)
		for i, c := range all {
			if c, ok := c.(map[string]any); ok {
				fn(field.NewPath("spec", name).Index(i), c)
			}
		}
	}
}
