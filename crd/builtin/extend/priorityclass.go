package extend

import (
	"context"
	"errors"
	"strings"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// priorityHooks protects the classes that every cluster has.
type priorityHooks struct{}

var _ crd.Hooks = priorityHooks{}

// BeforeDelete implements [crd.Hooks]. Names that begin so are those of the system alone.
func (priorityHooks) BeforeDelete(_ context.Context, _ crd.Objects, obj map[string]any) error {
	name := object.TextAt(obj, "metadata", "name")
	if strings.HasPrefix(name, "system-") {
		return &crd.Kept{Refusal: apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), name, errors.New("this is a system priority class and cannot be deleted"))}
	}
	return nil
}

// StillFinalizing implements [crd.Hooks].
func (priorityHooks) StillFinalizing(map[string]any) bool { return false }
