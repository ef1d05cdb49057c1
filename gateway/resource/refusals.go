package resource

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/storage"
)

// RevisionField is the field, and the parameter, of a resourceVersion.
const RevisionField = "resourceVersion"

// ErrModified is the reason of every optimistic-lock conflict.
var ErrModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// ParseRevision reads a resourceVersion parameter; "" and "0" are zero.
func ParseRevision(s string) (int64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid resource version: " + field.Invalid(field.NewPath(RevisionField), s, err.Error()).Error())
	}
	return int64(n), nil
}

// errFull is told in the words of etcd, which operators look for.
var errFull = errors.New("the object is not stored, as the store is full: etcdserver: mvcc: database space exceeded")

// errTooMany is told of a write that the store refuses for its guards.
var errTooMany = errors.New("the object is not stored, as that depends on more others than the store compares in one transaction: etcdserver: too many operations in txn request")

// StoreError makes a status error of a store's error about one object.
func (t Target) StoreError(err error) error {
	gr := t.GroupResource()
	switch storage.KindOf(err) {
	case 0:
		return err
	case storage.NotFound:
		return apierrors.NewNotFound(gr, t.Name)
	case storage.Exists:
		return apierrors.NewAlreadyExists(gr, t.Name)
	case storage.Conflict:
		return apierrors.NewConflict(gr, t.Name, ErrModified)
	case storage.TooLarge:
		return apierrors.NewRequestEntityTooLargeError("the object is too large to be stored: " + err.Error())
	case storage.Full: // which trying again does not help
		return apierrors.NewInternalError(errFull)
	case storage.TooMany: // nor here
		return apierrors.NewInternalError(errTooMany)
	case storage.Compacted:
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	case storage.FutureRevision:
		return apierrors.NewTimeoutError("the store has not reached the resource version yet", 1)
	default:
		return apierrors.NewServerTimeout(gr, "store", 2)
	}
}

// Unrecognized is the refusal of a body that does not say that it is an object
// of the target's kind; err is why.
func (t Target) Unrecognized(err error, body []byte) error {
	return Unrecognized(t.Resource.Def.Kind, err, body)
}

// Unrecognized is the refusal of a body that does not say that it is an object
// of a kind; err is why.
func Unrecognized(kind string, err error, body []byte) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %s (%s)", kind, err, summary(body)))
}

// OfOtherKind refuses an object of a kind or version that is not the target's.
func (t Target) OfOtherKind(kind, apiVersion string) error {
	version := apiVersion[strings.LastIndexByte(apiVersion, '/')+1:]
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q", kind, version, t.Resource.Def.Kind, kind, apiVersion))
}

// summary shows what a body begins with: as it is when it may be JSON, else
// its bytes.
func summary(body []byte) string {
	const most = 30
	start, more := body, ""
	if len(body) > most {
		start, more = body[:most], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(start) + more
	default:
		return hex.EncodeToString(start) + more
	}
}

// Mismatch is the refusal of a deletion whose preconditions mean another object
// of the name, or another state of it; nil if they do not.
func Mismatch(kind schema.GroupResource, name string, p *metav1.Preconditions, uid types.UID, resourceVersion string) error {
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != uid:
		return apierrors.NewConflict(kind, name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, uid))
	case p.ResourceVersion != nil && *p.ResourceVersion != resourceVersion:
		return apierrors.NewConflict(kind, name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, resourceVersion))
	}
	return nil
}
