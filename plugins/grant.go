package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Grant lets a module look some objects of one kind up.
type Grant struct {
	// Group and Resource, the plural, are the kind. The group of the core is "".
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	// Namespace is "" for kinds without; "*" is any.
	Namespace string `json:"namespace,omitempty"`
	// Names are the objects' names; "*" is any.
	Names []string `json:"names"`
}

// Object names an object that a module wants to see.
type Object struct{ Group, Resource, Namespace, Name string }

// String is the object as modules name it: GROUP/RESOURCE/NAMESPACE/NAME.
func (o Object) String() string {
	return strings.Join([]string{o.Group, o.Resource, o.Namespace, o.Name}, "/")
}

// ParseObject reads what String writes.
func ParseObject(text string) (Object, error) {
	p := strings.Split(text, "/")
	if len(p) != 4 || len(text) > MaxObjectName || p[1] == "" || p[3] == "" {
		return Object{}, fmt.Errorf("%.100q does not name an object; GROUP/RESOURCE/NAMESPACE/NAME does", text)
	}
	return Object{p[0], p[1], p[2], p[3]}, nil
}

// Granted tells whether one of grants is about an object.
func Granted(grants []Grant, o Object) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool {
		return g.Group == o.Group && g.Resource == o.Resource && (g.Namespace == o.Namespace || g.Namespace == "*" && o.Namespace != "") &&
			(slices.Contains(g.Names, o.Name) || slices.Contains(g.Names, "*"))
	})
}

// Lookup finds an object as JSON, which is not changed; without waiting for
// anybody. An error that is [ErrNoObject] says that there is none, any other why
// it is not told.
type Lookup func(ctx context.Context, o Object) ([]byte, error)

// ErrNoObject: there is no such object.
var ErrNoObject = errors.New("there is no such object")

// The limits of lookups.
const (
	// MaxLookups is how many objects one call may look up.
	MaxLookups = 32
	// MaxLookupBytes is the largest object that a module is shown.
	MaxLookupBytes = 1 << 20
	// MaxObjectName is the longest name of an object, in bytes.
	MaxObjectName = 1024
)
