package write

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// whole is a client's complete object, of a POST or a PUT.
type whole struct {
	body []byte
	tree map[string]any // decoded, and nobody's yet
	// text is that of the tree, of an update that may have much in common with the
	// present state.
	text object.Text
}

// decode implements [source]: it parses the body once for each attempt, since
// an attempt works upon the tree.
func (s *whole) decode(r *request) error {
	if s.tree != nil {
		return nil
	}
	tree, asSent, err := decodeBody(r.Target, s.body, r.Options)
	if err != nil {
		return err
	}
	obj := asUnstructured(tree)
	if r.put {
		if err := sameName(r.Target, obj.GetName()); err != nil {
			return err
		}
	} else if r.Name != "" && obj.GetName() == "" && obj.GetGenerateName() == "" {
		obj.SetName(r.Name)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(r.Namespace, obj); err != nil {
		return err
	}
	if s.tree = tree; asSent && r.put {
		s.text = object.Text{Data: s.body, Tree: tree}
	}
	return nil
}

// size implements [source].
func (s *whole) size() int { return len(s.body) }

// sameName compares the name in a body with that in the path.
func sameName(t resource.Target, name string) error {
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
func (s *whole) change(_ context.Context, r *request, from *present) (n next, err error) {
	n.object, s.tree, s.text = asUnstructured(s.tree), nil, object.Text{}
	if from.entry != nil {
		return n, nil
	}
	if r.put {
		if uid := n.object.GetUID(); uid != "" {
			return n, wrongUID(r.Target, uid, "")
		}
		n.object.SetResourceVersion("")
	}
	alive(n.object) // before anybody owns it
	return n, nil
}
