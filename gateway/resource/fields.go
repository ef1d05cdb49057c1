package resource

import (
	"context"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/managedfields"
)

// managed are the managedFields on the way of a write, raw: the trees of a
// write do not have them.
type managed struct {
	live object.Managed // of the present state
	sent object.Managed // that the new state came with
	next object.Managed // to be stored
	// done: next is decided.
	done bool
	// lives and previews are the present and the new state at versions that
	// owners speak of.
	lives    []liveAt
	previews []*catalog.Preview
	// sameOwners: next differs from live in nothing but times.
	sameOwners bool
}

// liveAt is the present state at a version.
type liveAt struct {
	version string
	object.Text
}

// at is the present state at a version; zero if it was not asked for.
func (m *managed) at(version string) object.Text {
	for _, l := range m.lives {
		if l.version == version {
			return l.Text
		}
	}
	return object.Text{}
}

// manage decides the managedFields of every write but an apply, which has to
// know them earlier, and a deletion, whose marks nobody owns.
func (w *Write) manage(ctx context.Context) error {
	switch {
	case w.managed.done, w.operation == admission.Delete:
		return nil
	case w.stored:
		return w.manageMetadata(ctx)
	case w.sent != nil:
		return w.manageSent(ctx)
	}
	out, err := w.Resource.Owners.Update(ctx, w.fieldChange(w.object.Object))
	if err != nil {
		return err
	}
	w.decided(out)
	return w.checkSent()
}

func (w *Write) decided(out managedfields.Outcome) {
	w.managed.next, w.managed.sameOwners, w.managed.done = out.Managed, out.SameOwners, true
}

// fieldChange is the write as field management sees it.
func (w *Write) fieldChange(next map[string]any) managedfields.Change {
	c := managedfields.Change{
		Version: w.Version.Name, Subresource: w.Subresource,
		Manager: w.Options.Caller.manager(), Force: w.Options.Caller.Force, Time: time.Now(),
		LiveManaged: w.managed.live, New: next, NewManaged: w.managed.sent,
		Versions: otherVersions{w, next},
	}
	if w.old != nil {
		c.Live = w.old.Object
	}
	return c
}

// manageMetadata decides them of a write that changes metadata at whatever
// version the object is stored at. Metadata is the same at all versions, so the
// rest need not be looked at, and nothing is converted.
func (w *Write) manageMetadata(ctx context.Context) error {
	live, err := w.Resource.Def.Codec.Decode(w.from.Stored)
	if err != nil {
		return w.Resource.Unreadable(w.from.Entry, err)
	}
	at := w.Resource.Def.At(w.object.GetAPIVersion())
	if at == nil {
		return nil // a retired version's; a migration will tell
	}
	if w.managed.live, err = object.TakeManaged(live); err != nil {
		return err
	}
	if _, err = object.TakeManaged(w.object.Object); err != nil {
		return err
	}
	c := w.fieldChange(onlyMetadata(w.object.Object))
	c.Version, c.Live = at.Name, onlyMetadata(live)
	c.Versions = sameVersions{c.Live, c.New}
	out, err := w.Resource.Owners.Update(ctx, c)
	if err != nil {
		return err
	}
	if out.SameOwners && object.Equal(w.object.Object, live) {
		out.Managed = w.managed.live // times alone, or another spelling, are no change
	}
	object.SetManaged(w.object.Object, out.Managed)
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

// attachManaged puts the managedFields where they are stored, for as long as
// the object is encoded. Times alone are no change.
func (w *Write) attachManaged() {
	if w.stored {
		return // they were never taken away
	}
	m := w.managed.next
	if w.managed.sameOwners && w.old != nil && object.Equal(w.object.Object, w.old.Object) {
		m = w.managed.live
	}
	object.SetManaged(w.object.Object, m)
}

// otherVersions are the states of a write at other versions.
type otherVersions struct {
	w    *Write
	next map[string]any
}

// Live implements [managedfields.Versions]: the view that readers share.
func (o otherVersions) Live(ctx context.Context, version string) (map[string]any, error) {
	w := o.w
	if w.Resource.Def.Version(version) == nil {
		return nil, managedfields.ErrNoVersion
	}
	data, err := w.Resource.View(ctx, w.from.Entry, version)
	if err != nil {
		return nil, err
	}
	present := object.Text{Data: w.present}
	if w.old != nil {
		present.Tree = w.old.Object
	}
	tree, err := object.ParseLike(data, present)
	if err != nil {
		return nil, w.Resource.Unreadable(w.from.Entry, err)
	}
	if _, err = object.TakeManaged(tree); err != nil {
		return nil, err
	}
	w.managed.lives = append(w.managed.lives, liveAt{version, object.Text{Data: data, Tree: tree}})
	return tree, nil
}

// New implements [managedfields.Versions]. What is converted here is not converted
// again to be stored or shown.
func (o otherVersions) New(ctx context.Context, version string) (map[string]any, error) {
	if o.w.Resource.Def.Version(version) == nil {
		return nil, managedfields.ErrNoVersion
	}
	p, err := o.w.Resource.Preview(ctx, o.next, version, o.w.managed.at(version))
	if err != nil {
		return nil, err
	}
	o.w.managed.previews = append(o.w.managed.previews, p)
	return p.Tree(), nil
}

// Convert implements [managedfields.Versions].
func (o otherVersions) Convert(ctx context.Context, tree map[string]any, _, to string) (map[string]any, error) {
	if o.w.Resource.Def.Version(to) == nil {
		return nil, managedfields.ErrNoVersion
	}
	if _, ok := tree["metadata"]; ok {
		return o.w.Resource.ConvertTree(ctx, tree, to)
	}
	// Of an object without what one manager owned not even the name may be
	// left; but converters are told, and asked, which object it is.
	whole := maps.Clone(tree)
	whole["metadata"] = o.identity()
	out, err := o.w.Resource.ConvertTree(ctx, whole, to)
	if meta, ok := out["metadata"].(map[string]any); ok {
		for k := range o.identity() {
			delete(meta, k)
		}
		if len(meta) == 0 {
			delete(out, "metadata")
		}
	}
	return out, err
}

func (o otherVersions) identity() map[string]any {
	id := map[string]any{"name": o.w.Name}
	if o.w.Namespace != "" {
		id["namespace"] = o.w.Namespace
	}
	return id
}

// manager names the caller in managedFields: as it asks, or by what it calls
// itself, up to the first slash.
func (c Caller) manager() string {
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
