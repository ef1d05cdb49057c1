package view

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Converter brings objects of a kind to its versions.
type Converter struct {
	Stored
	bulk *conversion.Bulk
	// worked has for each version one more than the epoch of the converter that converted
	// to it last.
	worked map[string]*atomic.Uint64
}

func newConverter(def *crd.Definition, c conversion.Converter) Converter {
	worked := make(map[string]*atomic.Uint64, len(def.Versions))
	for _, v := range def.Versions {
		worked[v.Name] = &atomic.Uint64{}
	}
	return Converter{Stored{def}, conversion.Batched(c, conversion.Batch{}), worked}
}

// works tells that the converter of an epoch has converted something to a version.
func (c Converter) works(version string, epoch uint64) bool {
	return c.worked[version].Load() == epoch+1
}

// ConvertedBy is who converts objects of the kind now, and made what was remembered of
// them at other versions.
func (c Converter) ConvertedBy() conversion.By { return c.bulk.By() }

// convert brings one complete object at any other version to version, and
// makes it well-formed by its schema.
func (c Converter) convert(ctx context.Context, version string, data []byte) (out []byte, err error) {
	err = c.convertEach(ctx, version, [][]byte{data}, func(_ int, data []byte) { out = data })
	return out, err
}

// convertEach brings complete objects at any other version to version, and
// hands over each that is well-formed by its schema, possibly several at once,
// also when it fails in the end.
func (c Converter) convertEach(ctx context.Context, version string, objects [][]byte, done func(n int, data []byte)) error {
	return c.eachConverted(ctx, version, objects, func(v *crd.Version, n int, data []byte) error {
		if v.Unchanged != nil && v.Unchanged(data) {
			done(n, data)
			return nil
		}
		tree, err := wellFormed(v, data, crd.Shape.FromConversion)
		if err != nil {
			return err
		}
		if data, err = object.Encode(tree); err == nil {
			done(n, data)
		}
		return err
	})
}

// eachConverted hands over what a converter made, before the schema is applied.
func (c Converter) eachConverted(ctx context.Context, version string, objects [][]byte, done func(v *crd.Version, n int, data []byte) error) error {
	v := c.Def.Version(version)
	if v == nil {
		return apierrors.NewInternalError(fmt.Errorf("%s has no version %q", c.Def.GroupResource(), version))
	}
	var refusal firstError
	epoch := c.bulk.Epoch()
	err := c.bulk.Each(ctx, c.Def.APIVersion(version), objects, func(first int, converted [][]byte) {
		if !c.works(version, epoch) {
			c.worked[version].Store(epoch + 1)
		}
		for i, data := range converted {
			refusal.note(first+i, done(v, first+i, data))
		}
	})
	if err != nil {
		return conversionError(err)
	}
	return refusal.err
}

// ConvertTree brings one complete object to another version. It leaves tree as
// it is.
func (c Converter) ConvertTree(ctx context.Context, tree map[string]any, version string) (map[string]any, error) {
	return c.convertTree(ctx, tree, version, crd.Shape.FromConversion)
}

// ConvertTrees brings complete objects at any other version to version, many in a call, also
// those that can be when others fail: what was not converted is nil, and the error is that
// of one of them.
func (c Converter) ConvertTrees(ctx context.Context, objects [][]byte, version string) ([]map[string]any, error) {
	out := make([]map[string]any, len(objects))
	return out, c.eachConverted(ctx, version, objects, func(v *crd.Version, n int, data []byte) (err error) {
		out[n], err = wellFormed(v, data, crd.Shape.FromConversion)
		return err
	})
}

// ConvertPart does the same as ConvertTree with an object that lacks some of its fields. Those that
// are null were emptied, and stay so.
func (c Converter) ConvertPart(ctx context.Context, tree map[string]any, version string) (map[string]any, error) {
	return c.convertTree(ctx, tree, version, func(s crd.Shape, obj map[string]any) error {
		if p, ok := s.(crd.PartShape); ok {
			return p.FromPart(obj)
		}
		return s.FromConversion(obj)
	})
}

func (c Converter) convertTree(ctx context.Context, tree map[string]any, version string, shape shaping) (out map[string]any, err error) {
	data, err := object.Encode(tree)
	if err != nil {
		return nil, err
	}
	err = c.eachConverted(ctx, version, [][]byte{data}, func(v *crd.Version, _ int, data []byte) error {
		out, err = wellFormed(v, data, shape)
		return err
	})
	return out, err
}

// shaping is how a schema is applied to what a converter made.
type shaping func(s crd.Shape, obj map[string]any) error

// wellFormed parses what a converter made, and applies the schema.
func wellFormed(v *crd.Version, data []byte, shape shaping) (map[string]any, error) {
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, &UnconvertedError{StatusError: apierrors.NewInternalError(fmt.Errorf("converted object is not readable: %w", err)), OfObjects: true}
	}
	if err := shape(v.Shape, tree); err != nil {
		return nil, &UnconvertedError{StatusError: apierrors.NewInternalError(err), OfObjects: true}
	}
	return tree, nil
}

// retryAfter is how many seconds a client should wait whose conversion found no room.
const retryAfter = 1

// conversionError lets status errors through and makes the others what
// kube-apiserver makes of them: code 500, no reason, the message as it is. A call that
// found no room is none of its.
func conversionError(err error) error {
	if _, ok := err.(apierrors.APIStatus); ok {
		return err
	}
	var failure *conversion.Error
	if errors.As(err, &failure) && failure.Later() { // which says nothing of the objects
		return apierrors.NewTooManyRequests(err.Error(), retryAfter)
	}
	return &UnconvertedError{
		StatusError: &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}},
		OfObjects:   errors.As(err, &failure) && failure.OfObjects(),
		Choked:      failure != nil && failure.Choked(),
	}
}

// UnconvertedError tells that objects were not converted.
type UnconvertedError struct {
	*apierrors.StatusError
	// OfObjects: the converter works, and it is some of the objects that do not convert.
	OfObjects bool
	// Choked: the converter ended on them, and would again. If it works for others, it is
	// they that do not convert.
	Choked bool
}
