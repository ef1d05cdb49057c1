package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// marshaler is a Go type of Kubernetes.
type marshaler interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// foreign is an object as another server stored it.
func foreign(t testing.TB, apiVersion, kind string, o marshaler, revision int64) *Entry {
	t.Helper()
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return NewEntry(storage.KV{Value: wire.AppendEnvelope(nil, apiVersion, kind, raw), Revision: revision})
}

// messages are entries at the version that a built-in has.
func (s *shelf) messages(r *Renderer, entries ...*Entry) []encoding.Object {
	s.t.Helper()
	out, err := r.messagesOf(s.ctx(), entries)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func read[T marshaler](t testing.TB, m encoding.Object, into T) T {
	t.Helper()
	if err := into.Unmarshal(m.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	return into
}

// What is stored as it is sent is seen once to be so, and then sent without
// being decoded or kept; a tombstone of it, too.
func TestWhatIsStoredIsSent_MT06(t *testing.T) {
	s := newShelf(t)
	r := s.builtin("", "configmaps")
	var entries []*Entry
	for i := range 3 * spreadLeast {
		e := foreign(t, "v1", "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}, Data: map[string]string{"a": "b"}}, int64(i+1))
		entries = append(entries, e)
	}
	if r.StoredAt(entries[0], "v1") {
		t.Error("a message is taken for JSON at this version")
	}
	gone := Tombstone(entries[1], 999)
	for range 2 {
		for i, m := range s.messages(r, append(entries, gone)...) {
			c := read(t, m, &corev1.ConfigMap{})
			want, rev := fmt.Sprint(i), fmt.Sprint(i+1)
			if i == len(entries) {
				want, rev = "1", "999"
			}
			if c.Name != want || c.ResourceVersion != rev || c.Data["a"] != "b" {
				t.Fatalf("%d is %v", i, c)
			}
		}
	}
	for _, e := range entries {
		if e.canonical.Load() == nil || e.views.Load() != nil {
			t.Fatalf("canonical: %v, views %v", e.canonical.Load(), e.views.Load())
		}
	}
	// It is not decoded again: not even what no longer could be.
	broken := foreign(t, "v1", "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, 5)
	s.messages(r, broken)
	seen, size := broken.canonical.Load(), broken.Size()
	broken.holds([]byte("k8s"))
	if m := s.messages(r, broken); read(t, m[0], &corev1.ConfigMap{}).Name != "x" {
		t.Error("a canonical object was decoded")
	}
	for name, other := range map[string]canonicalMessage{
		"another definition": {seen.Message, r.epoch - 1, "v1"}, "another version": {seen.Message, r.epoch, "v2"},
	} {
		broken.canonical.Store(&other)
		if _, err := r.messagesOf(s.ctx(), []*Entry{broken}); err == nil {
			t.Errorf("what %s saw was taken for granted", name)
		}
	}
	if broken.Shed(); broken.canonical.Load() != nil || broken.Size() >= size {
		t.Errorf("%d bytes of %d are left", broken.Size(), size)
	}
}

// What was written here is known to be what is sent: not even the first list
// decodes it, nor one of the entry that the cache made of the same bytes.
func TestWhatWasWrittenIsSent_MT06(t *testing.T) {
	s := newShelf(t)
	for name, c := range map[string]struct {
		plural, body string
		known        bool
	}{
		"whole":              {"configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":"b"},"managedFields":[{"manager":"m","operation":"Update"}]},"data":{"a":"b"}}`, true},
		"lacks a default":    {"secrets", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, false},
		"loses an emptiness": {"configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.builtin("", c.plural)
			tree, _, err := object.ParseObject([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			d, err := r.Draft(t.Context(), r.Def.Version("v1"), tree, object.Text{})
			if err != nil {
				t.Fatal(err)
			}
			object.Detach(tree) // as a writer does
			if _, err := d.View(t.Context(), "v1"); err != nil {
				t.Fatal(err)
			}
			e, _, err := d.Committed(9, "v1")
			if err != nil || (e.canonical.Load() != nil) != c.known {
				t.Fatalf("known: %v, %v", e.canonical.Load() != nil, err)
			}
			late := NewEntry(storage.KV{Value: bytes.Clone(d.Stored), Revision: 9})
			late.Adopt(e)
			clear(d.Stored) // nobody else may have this memory
			if (late.canonical.Load() != nil) != c.known {
				t.Fatalf("adopted: %v", late.canonical.Load() != nil)
			}
			if !c.known {
				return
			}
			fresh := NewEntry(storage.KV{Value: bytes.Clone(late.Stored()), Revision: 9})
			want := s.messages(r, fresh)[0].AppendTo(nil)
			if got := s.messages(r, late)[0].AppendTo(nil); !bytes.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// What another server stored without a default, at another version or as JSON
// is completed, and what was made of it is kept.
func TestWhatIsStoredOtherwiseIsCompleted_MT06(t *testing.T) {
	s := newShelf(t)
	r := s.builtin("", "secrets")
	bare := foreign(t, "v1", "Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, 7)
	asJSON := NewEntry(storage.KV{Value: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"two"},"data":{"a":"Yg=="}}`), Revision: 8})
	full := foreign(t, "v1", "Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "three"}, Type: corev1.SecretTypeOpaque}, 9)
	entries := []*Entry{bare, asJSON, full, Tombstone(bare, 10)}
	for range 2 {
		for i, m := range s.messages(r, entries...) {
			c := read(t, m, &corev1.Secret{})
			if c.Name != []string{"one", "two", "three", "one"}[i] || c.Type != corev1.SecretTypeOpaque || c.ResourceVersion != fmt.Sprint(i+7) || (len(c.Data) > 0) != (i == 1) {
				t.Errorf("%d is %v", i, c)
			}
		}
	}
	k := r.KeyOf(inProtobuf("v1"))
	if bare.view(k) == nil || asJSON.view(k) == nil || full.view(k) != nil || entries[3].view(k) != nil || bare.canonical.Load() != nil {
		t.Error("what is kept is not what had to be made")
	}
	e := s.builtin("", "events")
	other := foreign(t, "events.k8s.io/v1", "Event", &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "n"}, Reason: "r"}, 3)
	if _, err := e.messagesOf(s.ctx(), []*Entry{other}); err != nil && !apierrors.IsInternalError(err) {
		t.Errorf("an event of another group: %v", err)
	}
	h := s.builtin("admissionregistration.k8s.io", "validatingwebhookconfigurations")
	old := foreign(t, "admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration", &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "w"}}, 4)
	if m, err := h.messagesOf(s.ctx(), []*Entry{old}); err == nil && read(t, m[0], &admissionregistrationv1.ValidatingWebhookConfiguration{}).Name != "w" {
		t.Errorf("a former version: %v", m)
	}
}

func TestUnreadableMessagesAreErrors(t *testing.T) {
	s := newShelf(t)
	r := s.builtin("", "configmaps")
	for name, data := range map[string]string{
		"nothing":              "",
		"no envelope":          "k8s\x00\x12\x05a",
		"no object":            "k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x01x",
		"metadata cut short":   "k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x03\x0a\x05x",
		"no metadata, no JSON": "{",
	} {
		e := NewEntry(storage.KV{Value: []byte(data), Revision: 3})
		if _, err := r.messagesOf(s.ctx(), []*Entry{e}); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "at revision 3 cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Objects(s.ctx(), nil, []*Entry{e}, metadataInProtobuf()); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "at revision 3 cannot be read") {
			t.Errorf("metadata of %s: %v", name, err)
		}
	}
	e := foreign(t, "v1", "ConfigMap", &corev1.ConfigMap{}, 3)
	e.addView(&view{Key: r.KeyOf(inProtobuf("v1")), data: []byte("x")})
	if _, err := r.messagesOf(s.ctx(), []*Entry{e}); !apierrors.IsInternalError(err) {
		t.Errorf("a broken view: %v", err)
	}
}

// Metadata of built-in kinds are a part of what is stored; those of custom
// resources are made once. Neither needs a converter.
func TestMetadataMessages_MT19(t *testing.T) {
	s := newShelf(t)
	s.conv.BreakDown("broken")
	r := s.builtin("", "configmaps")
	kept := foreign(t, "v1", "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"a": "b"}}, Data: map[string]string{"a": "b"}}, 7)
	odd := NewEntry(storage.KV{Value: wire.AppendEnvelope(nil, "v1", "ConfigMap", []byte("\x12\x06\x0a\x01k\x12\x01v\x0a\x05\x0a\x03odd")), Revision: 8})
	check := func(r *Renderer, made bool, entries ...*Entry) {
		t.Helper()
		for range 2 {
			all, err := r.Objects(s.ctx(), nil, entries, metadataInProtobuf())
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range all {
				o, name := read(t, m, &metav1.PartialObjectMetadata{}), ""
				view, err := r.metadataOf(entries[i])
				if err == nil {
					name = entries[i].name(t, view)
				}
				if err != nil || o.Name != name || o.ResourceVersion != fmt.Sprint(entries[i].Revision) {
					t.Errorf("%v, as JSON %s %v", o, view, err)
				}
			}
		}
		for _, e := range entries {
			if (e.base().view(r.KeyOf(metadataInProtobuf())) != nil) != made {
				t.Errorf("kept of %s: %v", e.Stored(), !made)
			}
		}
	}
	check(r, false, kept, Tombstone(kept, 70))
	check(r, true, odd)
	tab := entry(v1, "one", 9)
	check(s.cronTabs(), true, tab, Tombstone(tab, 90), entry(v1beta1, "two", 10))
}

// name is that in an object.
func (e *Entry) name(t testing.TB, data []byte) string {
	t.Helper()
	var o metav1.PartialObjectMetadata
	m, err := wire.FromJSON(data, &o)
	if err != nil || len(m) == 0 {
		t.Fatal(err)
	}
	return o.Name
}

// Messages of one list lie side by side, and one alone by itself.
func TestMessagesOfAListLieSideBySide(t *testing.T) {
	var alone *arena
	if one, two := alone.put(wire.Message{}), alone.put(wire.Message{}); one == two || one == nil || two == nil {
		t.Error("two messages alone are one")
	}
	all := &arena{most: 3}
	var kept []*wire.Message
	for range all.most {
		kept = append(kept, all.put(wire.Message{}))
	}
	for i, m := range kept {
		if m != &all.messages[i] {
			t.Errorf("message %d is elsewhere", i)
		}
	}
}
