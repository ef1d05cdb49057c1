package extend

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// goType is a pointer to a Go type of the Kubernetes API.
type goType[T any] interface {
	*T
	object.GoObject
}

// Layout is that of a version whose Go type has other fields than the type of
// the storage version, which is the home of what is said of the kind: objects of
// this version are defaulted, judged and printed as what they are there.
type Layout struct {
	Fresh func() object.GoObject
	// Home and Away lead to the storage version and back. They leave their
	// argument as it is, and say nothing of apiVersion and kind.
	Home, Away func(obj map[string]any) (map[string]any, error)
	// ValidateAll takes the place of the kind's for objects that are written at this version;
	// nil where that judges them.
	ValidateAll func(subresource string, obj, old map[string]any) field.ErrorList
}

func newLayout[V, H any, PV goType[V], PH goType[H]](home func(*V) (*H, error), away func(*H) (*V, error)) *Layout {
	return &Layout{
		Fresh: func() object.GoObject { return PV(new(V)) },
		Home:  func(obj map[string]any) (map[string]any, error) { return through[V, H, PV, PH](obj, home) },
		Away:  func(obj map[string]any) (map[string]any, error) { return through[H, V, PH, PV](obj, away) },
	}
}

// through brings a tree from one Go type to another. Nobody looks at its
// managedFields on the way.
func through[F, T any, PF goType[F], PT goType[T]](obj map[string]any, convert func(*F) (*T, error)) (map[string]any, error) {
	managed := object.Detach(obj)
	if managed != nil {
		defer object.SetManaged(obj, managed)
	}
	from := PF(new(F))
	if err := object.ToTyped(obj, from); err != nil {
		return nil, err
	}
	to, err := convert((*F)(from))
	if err != nil {
		return nil, err
	}
	out, err := object.FromTyped(PT(to))
	if err == nil && managed != nil {
		object.SetManaged(out, managed)
	}
	return out, err
}

// Layouts are those of a kind's versions that have one of their own, by their
// apiVersion.
type Layouts map[string]*Layout

// Convert is the converter of a kind.
func (l Layouts) Convert(obj map[string]any, apiVersion string) (err error) {
	from, _ := obj["apiVersion"].(string)
	if l[from] == l[apiVersion] { // also where neither has one
		obj["apiVersion"] = apiVersion
		return nil
	}
	kind, tree := obj["kind"], obj
	if own := l[from]; own != nil {
		if tree, err = own.Home(tree); err != nil {
			return fmt.Errorf("from %s: %w", from, err)
		}
	}
	if own := l[apiVersion]; own != nil {
		if tree, err = own.Away(tree); err != nil {
			return fmt.Errorf("to %s: %w", apiVersion, err)
		}
	}
	Become(obj, tree, apiVersion, kind)
	return nil
}

// Become makes obj what tree is, of an apiVersion and a kind.
func Become(obj, tree map[string]any, apiVersion, kind any) {
	clear(obj)
	maps.Copy(obj, tree)
	obj["apiVersion"], obj["kind"] = apiVersion, kind
}

// judgedBy sets what checks objects that are written at this version.
func (l *Layout) judgedBy(check func(subresource string, obj, old map[string]any) field.ErrorList) *Layout {
	l.ValidateAll = check
	return l
}
