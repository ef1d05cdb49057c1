package resource

import (
	"bytes"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
)

// What others than field management say about managedFields is read before it
// is stored.

// owners are the managedFields of the new state.
func (w *Write) owners() (object.Managed, error) {
	if !w.stored {
		return w.managed.next, nil
	}
	m, err := object.TakeManaged(w.object.Object)
	object.SetManaged(w.object.Object, m)
	return m, err
}

// judgeOwners keeps what mutating admission made of the managedFields if they can
// be read. Else it restores what they were before, and warns the client.
func (w *Write) judgeOwners(before object.Managed) error {
	after, err := w.owners()
	if err != nil || bytes.Equal(after, before) {
		return err
	}
	var entries []metav1.ManagedFieldsEntry
	if err := kjson.UnmarshalCaseSensitivePreserveInts(after, &entries); after != nil && err != nil {
		return apierrors.NewInternalError(err)
	}
	if err := managedfields.ValidateManagedFields(entries); err != nil {
		w.Options.warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v", err))
		after, entries = before, nil
	} else if after, err = canonical(entries); err != nil {
		return apierrors.NewInternalError(err)
	}
	if w.managed.next = after; w.stored {
		object.SetManaged(w.object.Object, after)
	}
	return w.checkManagers(entries)
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

// checkSent refuses managedFields that a client sent and that no entry of ours
// could look like.
func (w *Write) checkSent() error {
	m := w.managed
	if m.sent == nil || bytes.Equal(m.sent, m.live) || bytes.Equal(m.next, m.live) {
		return nil
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(m.next, &entries); m.next != nil && err != nil {
		return apierrors.NewInternalError(err)
	}
	return w.checkManagers(entries)
}

// checkManagers refuses entries with names that managers and subresources do not
// have.
func (w *Write) checkManagers(entries []metav1.ManagedFieldsEntry) error {
	errs := validation.ValidateManagedFields(entries, field.NewPath("metadata", "managedFields"))
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(w.GetKind().GroupKind(), w.object.GetName(), errs)
}
