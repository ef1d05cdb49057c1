package write

import (
	"bytes"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
)

// ownersOf are the managedFields of the new state.
func ownersOf(r *request, n *next) (object.Managed, error) {
	if !r.stored {
		return n.owners.next, nil
	}
	m, err := object.TakeManaged(n.object.Object)
	object.SetManaged(n.object.Object, m)
	return m, err
}

// judgeOwners keeps what mutating admission made of the managedFields if they can
// be read. Else it restores what they were before, and warns the client.
func judgeOwners(r *request, n *next, before object.Managed) error {
	after, err := ownersOf(r, n)
	if err != nil || bytes.Equal(after, before) {
		return err
	}
	var entries []metav1.ManagedFieldsEntry
	if err := kjson.UnmarshalCaseSensitivePreserveInts(after, &entries); after != nil && err != nil {
		return apierrors.NewInternalError(err)
	}
	if err := managedfields.ValidateManagedFields(entries); err != nil {
		r.Options.AddWarning(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v", err))
		after, entries = before, nil
	} else if after, err = canonical(entries); err != nil {
		return apierrors.NewInternalError(err)
	}
	if n.owners.next = after; r.stored {
		object.SetManaged(n.object.Object, after)
	}
	return checkManagers(r, entries, n.object.GetName())
}

// canonical are managedFields as they are stored: with sorted keys, and nothing
// for no entries.
func canonical(entries []metav1.ManagedFieldsEntry) (object.Managed, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	var list []any
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	return object.Encode(list)
}
