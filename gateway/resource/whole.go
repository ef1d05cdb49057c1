package resource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/admission"
)

// whole is a client's complete object, of a POST or a PUT.
type whole struct {
	body []byte
	tree map[string]any // decoded, and nobody's yet
	told bool           // the client has been warned of what is odd
}

// decode implements [source]: it parses the body once for each attempt, since
// an attempt works upon the tree.
func (s *whole) decode(w *Write) error {
	if s.tree != nil {
		return nil
	}
	o := w.Options
	if s.told {
		o.Warn = nil
	}
	tree, err := w.decodeBody(s.body, o)
	if err != nil {
		return err
	}
	s.told = true
	obj := asUnstructured(tree)
	if w.put {
		if err := w.sameName(obj.GetName()); err != nil {
			return err
		}
	} else if w.Name != "" && obj.GetName() == "" && obj.GetGenerateName() == "" {
		obj.SetName(w.Name)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(w.Namespace, obj); err != nil {
		return err
	}
	s.tree = tree
	return nil
}

// sameName compares the name in a body with that in the path.
func (t Target) sameName(name string) error {
	switch name {
	case t.Name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", t.Name))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
}

// change implements [source]: the body is the new state.
func (s *whole) change(_ context.Context, w *Write) error {
	w.object, s.tree = asUnstructured(s.tree), nil
	if w.operation != admission.Create {
		return nil
	}
	if w.put {
		if uid := w.object.GetUID(); uid != "" {
			return w.wrongUID(uid, "")
		}
		w.object.SetResourceVersion("")
	}
	if w.object.GetName() == "" {
		w.generate = w.object.GetGenerateName()
	}
	alive(w.object) // before anybody owns it
	return nil
}
