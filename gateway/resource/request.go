package resource

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/storage"
)

// Target is what a request is about: a resource at a version, and in it a
// namespace and a name as far as the path gives them.
type Target struct {
	Resource    *catalog.Resource
	Version     *crd.Version
	Namespace   string
	Name        string
	Subresource string
}

// GroupResource is the resource as the request names it: some kinds can be had by
// several groups.
func (t Target) GroupResource() schema.GroupResource {
	if t.Version == nil {
		return t.Resource.GroupResource()
	}
	return t.Resource.Def.GVR(t.Version.Name).GroupResource()
}

// gvk is the kind of the request's objects.
func (t Target) gvk() schema.GroupVersionKind { return t.Resource.Def.GVK(t.Version.Name) }

// WriteOptions are what all writes have in common.
type WriteOptions struct {
	// Caller is who writes.
	Caller Caller
	// NoReply: nobody reads what was written, so it need not be made.
	NoReply bool
	// DryRun does everything but the commit.
	DryRun bool
	// FieldValidation is Ignore, Warn (also "") or Strict.
	FieldValidation string
	// Problems are duplicate fields that were found while the body was made
	// JSON; they are treated as those that the JSON has.
	Problems []string
	// Warn receives the warnings for the client; nil drops them.
	Warn func(text string)
	// MayCreate refuses, with the client's error, that a write which may
	// create an object does so; nil allows it. It is not asked about creations
	// as such, which were authorized before.
	MayCreate func(ctx context.Context, name string) error
	// unasked: admission is not asked.
	unasked bool
}

func (o WriteOptions) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// Written is the outcome of a write.
type Written struct {
	// Object is the object in the request's version; nil for one that a
	// deletion removed. The bytes are shared and must not be changed.
	Object []byte
	// Created: the object did not exist before.
	Created bool
	// Deleted: the write removed the object, or a deletion found nothing left
	// to wait for.
	Deleted bool
	// UID is the object's uid.
	UID string
}

// maxRedefined bounds how often a write whose definition was replaced under it
// is repeated: more often than anybody changes a definition in that time.
const maxRedefined = 100

// Again repeats a write whose definition was replaced under it.
func Again[T any](write func() (T, error)) (out T, err error) {
	for range maxRedefined {
		if out, err = write(); !errors.Is(err, catalog.ErrReplaced) {
			return out, err
		}
	}
	return out, apierrors.NewInternalError(err)
}

type recorder func(string)

func (r recorder) AddWarning(_, text string) { r(text) }

// scope prepares the context that the Kubernetes strategies read.
func (t Target) scope(ctx context.Context, o WriteOptions) context.Context {
	ctx = genericapirequest.WithNamespace(ctx, t.Namespace)
	if u := o.Caller.User; u != nil {
		ctx = genericapirequest.WithUser(ctx, u)
	}
	if o.Warn != nil {
		ctx = warning.WithWarningRecorder(ctx, recorder(o.Warn))
	}
	return ctx
}

// parseRevision reads a resourceVersion parameter; "" and "0" are zero.
func parseRevision(s string) (int64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid resource version: " + field.Invalid(field.NewPath(revisionField), s, err.Error()).Error())
	}
	return int64(n), nil
}

// errFull is told in the words of etcd, which operators look for.
var errFull = errors.New("the object is not stored, as the store is full: etcdserver: mvcc: database space exceeded")

// storeError makes a status error of a store's error about one object.
func (t Target) storeError(err error) error {
	gr := t.GroupResource()
	switch storage.KindOf(err) {
	case 0:
		return err
	case storage.NotFound:
		return apierrors.NewNotFound(gr, t.Name)
	case storage.Exists:
		return apierrors.NewAlreadyExists(gr, t.Name)
	case storage.Conflict:
		return apierrors.NewConflict(gr, t.Name, errModified)
	case storage.TooLarge:
		return apierrors.NewRequestEntityTooLargeError("the object is too large to be stored: " + err.Error())
	case storage.Full: // which trying again does not help
		return apierrors.NewInternalError(errFull)
	case storage.Compacted:
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	case storage.FutureRevision:
		return apierrors.NewTimeoutError("the store has not reached the resource version yet", 1)
	default:
		return apierrors.NewServerTimeout(gr, "store", 2)
	}
}

const revisionField = "resourceVersion"
