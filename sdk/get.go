package sdk

import (
	"errors"
	"strings"
)

// ErrNotFound is what [Get] says of an object that there is not.
var ErrNotFound = errors.New("there is no such object")

// Get looks an object up, as it is stored, in the gateway's cache. It is for
// functions that judge writes ([Admit]), and for objects that spec.grants of the
// WasmModule names; any other is refused with an error that says why. group is ""
// for the core group, resource the plural, namespace "" for kinds without.
func Get(group, resource, namespace, name string) (*Object, error) {
	data, err := lookup(strings.Join([]string{group, resource, namespace, name}, "/"))
	if err != nil {
		return nil, err
	}
	return Parse(data)
}
