package view

import (
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// Ownership is what the stored metadata says about who owns the object and what
// holds up its deletion: uid, owner references, finalizers and the timestamp of
// the deletion, besides the resourceVersion. The other fields are left out or
// not to be relied on. It never converts, and remembers nothing on the entry,
// so that looking at everything costs no memory. What it returns belongs to the
// caller.
func (r Stored) Ownership(e *Entry) (*metav1.ObjectMeta, error) {
	if !e.storedJSON() {
		if in, err := wire.Open(e.bytes()); err != nil {
			return nil, r.Unreadable(e, err)
		} else if m, err := wire.New(in.Raw, e.Revision); err == nil {
			meta, err := m.ObjectMeta()
			if err != nil {
				return nil, r.Unreadable(e, err)
			}
			return meta, nil
		} // else it has to be decoded as a whole
	}
	data, err := r.readMetadata(e)
	if err != nil {
		return nil, err
	}
	meta, err := ownership(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	meta.ResourceVersion = strconv.FormatInt(e.Revision, 10)
	return meta, nil
}

// ownership reads metadata in JSON. Managed fields, the bulk of it, are passed
// over.
func ownership(data []byte) (*metav1.ObjectMeta, error) {
	meta := &metav1.ObjectMeta{}
	values := object.Fields(data, "uid", "ownerReferences", "finalizers", "deletionTimestamp")
	uid, _ := object.String(values[0])
	meta.UID = types.UID(uid)
	for i, into := range []any{&meta.OwnerReferences, &meta.Finalizers, &meta.DeletionTimestamp} {
		if value := values[i+1]; value != nil {
			if err := json.Unmarshal(value, into); err != nil {
				return nil, err
			}
		}
	}
	return meta, nil
}
