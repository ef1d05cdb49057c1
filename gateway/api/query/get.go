package query

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// Get are the options of a get.
type Get struct{ ResourceVersion string }

// Get reads the options of a get. It refuses a parameter that once took from an object
// what a server sets: who sends it would believe that it was done.
func (p Parameters) Get() (Get, error) {
	if p.err != nil {
		return Get{}, p.err
	}
	o := Get{p.values.Get("resourceVersion")}
	asked := p.values["export"]
	if len(asked) == 0 {
		return o, nil
	}
	var export bool
	if err := runtime.Convert_Slice_string_To_bool(&asked, &export, nil); err != nil || !export {
		return o, err
	}
	return o, apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
}
