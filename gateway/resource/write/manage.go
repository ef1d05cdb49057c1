package write

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/managedfields"
)

// owned are the managedFields of a new state, raw: the trees of a write do not
// have them.
type owned struct {
	sent object.Managed // that it came with
	next object.Managed // to be stored
	// same: next differs from those of the present state in nothing but times.
	same    bool
	decided bool
}

func decided(out managedfields.Outcome) owned {
	return owned{next: out.Managed, same: out.SameOwners, decided: true}
}

// fieldChange is a write as field management sees it, which makes state next of the
// present one, with the managedFields that it came with.
func fieldChange(r *request, from *present, next map[string]any, sent object.Managed) managedfields.Change {
	from.new = next
	c := managedfields.Change{
		Version: r.Version.Name, Subresource: r.Subresource,
		Manager: manager(r.Options.Caller), Force: r.Options.Caller.Force, Time: time.Now(),
		LiveManaged: from.managed, New: next, NewManaged: sent, Versions: from,
	}
	if from.object != nil {
		c.Live = from.object.Object
	}
	return c
}

// ownership is the field management of what the request sends, nil where there is
// none.
func (r *request) ownership() *managedfields.Kind {
	switch {
	case r.sent != nil && r.Subresource != "": // a Binding has a kind, too
		return r.Resource.Bodies[catalog.Part{Version: r.Version.Name, Subresource: r.Subresource}]
	case scales(r.Target) != nil:
		return nil
	}
	return r.Resource.Owners
}

// manage decides who owns the fields of a new state.
func manage(ctx context.Context, r *request, from *present, to *next) (owned, error) {
	c := fieldChange(r, from, to.object.Object, to.owners.sent)
	kind := r.Resource.Owners
	if r.sent != nil {
		if kind = r.ownership(); kind == nil {
			return to.owners, nil
		}
		c.Version = r.sent.Version
	}
	out, err := kind.Update(ctx, c)
	if err != nil {
		return to.owners, err
	}
	return decided(out), checkSent(r, c, out.Managed, to.object.GetName())
}

// checkSent refuses managedFields that a client sent and that no entry of ours
// could look like.
func checkSent(r *request, c managedfields.Change, next object.Managed, name string) error {
	if c.NewManaged == nil || bytes.Equal(c.NewManaged, c.LiveManaged) || bytes.Equal(next, c.LiveManaged) {
		return nil
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(next, &entries); next != nil && err != nil {
		return apierrors.NewInternalError(err)
	}
	return checkManagers(r, entries, name)
}

// checkManagers refuses entries with names that managers and subresources do not
// have.
func checkManagers(r *request, entries []metav1.ManagedFieldsEntry, name string) error {
	errs := validation.ValidateManagedFields(entries, field.NewPath("metadata", "managedFields"))
	if len(errs) == 0 {
		return nil
	}
	return invalid(r.kind().GroupKind(), name, errs)
}

// manageMetadata decides them of a write that changes metadata at whatever
// version the object is stored at. Metadata is the same at all versions, so the
// rest need not be looked at, and nothing is converted.
func manageMetadata(ctx context.Context, r *request, from *present, obj *unstructured.Unstructured) error {
	live, err := r.Resource.Decode(from.entry)
	if err != nil {
		return err
	}
	at := r.Resource.Def.At(obj.GetAPIVersion())
	if at == nil {
		return nil // a retired version's; a migration will tell
	}
	managed, err := object.TakeManaged(live)
	if err != nil {
		return err
	}
	if _, err = object.TakeManaged(obj.Object); err != nil {
		return err
	}
	c := fieldChange(r, from, onlyMetadata(obj.Object), nil)
	c.Version, c.Live, c.LiveManaged = at.Name, onlyMetadata(live), managed
	c.Versions = sameVersions{c.Live, c.New}
	out, err := r.Resource.Owners.Update(ctx, c)
	if err != nil {
		return err
	}
	if out.SameOwners && object.Equal(obj.Object, live) {
		out.Managed = managed // times alone, or another spelling, are no change
	}
	object.SetManaged(obj.Object, out.Managed)
	return nil
}

func onlyMetadata(tree map[string]any) map[string]any {
	return map[string]any{"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": tree["metadata"]}
}

// sameVersions are trees that say the same at every version but for its name.
type sameVersions struct{ live, next map[string]any }

// Live implements [managedfields.Versions].
func (s sameVersions) Live(context.Context, string) (map[string]any, error) { return s.live, nil }

// New implements [managedfields.Versions].
func (s sameVersions) New(context.Context, string) (map[string]any, error) { return s.next, nil }

// Convert implements [managedfields.Versions].
func (s sameVersions) Convert(_ context.Context, tree map[string]any, _, _ string) (map[string]any, error) {
	return tree, nil
}

// attachManaged puts the managedFields of a new state where they are stored, for as
// long as the object is encoded. Times alone are no change.
func attachManaged(n *next, from *present) {
	m := n.owners.next
	if n.owners.same && from.object != nil && object.Equal(n.object.Object, from.object.Object) {
		m = from.managed
	}
	object.SetManaged(n.object.Object, m)
}

// manager names the caller in managedFields: as it asks, or by what it calls
// itself, up to the first slash.
func manager(c resource.Caller) string {
	if c.FieldManager != "" {
		return c.FieldManager
	}
	program, _, _ := strings.Cut(c.UserAgent, "/")
	var name strings.Builder
	for _, r := range program {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		name.WriteRune(r)
	}
	if name.Len() == 0 {
		return "unknown"
	}
	return name.String()
}
