package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

func parse(t *testing.T, data string) map[string]any {
	t.Helper()
	tree, _, err := object.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Views of a draft are what the cache would derive from its bytes, and go with
// the committed entry.
func TestDraftViews(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	cms := s.builtin("", "configmaps")
	for name, c := range map[string]struct {
		renderer    *Renderer
		at          string
		body        string
		views       []string
		conversions int64
		stored      string
	}{
		"canonical": {r, v1, catalogtest.Tab(v1, "one", "h", "1", `"generation":1`), []string{v1}, 0,
			`{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"name":"one"},"port":"1"}`},
		"its own resourceVersion goes": {r, v1, catalogtest.Tab(v1, "one", "h", "1", `"generation":1,"resourceVersion":"3"`), []string{v1, v1beta1}, 1, `"generation":1,"name":"one"}`},
		"not canonical":                {r, v1, catalogtest.Tab(v1, "one", "h", "1", `"labels":{}`), []string{v1}, 0, `"labels":{}`},
		"at the other version":         {r, v1beta1, catalogtest.Tab(v1beta1, "one", "h", "1", `"generation":1`), []string{v1beta1, v1}, 2, `"host":"h"`},
		"no views":                     {r, v1beta1, catalogtest.Tab(v1beta1, "one", "h", "1", `"generation":1`), nil, 1, `"host":"h"`},
		"built-in":                     {cms, "v1", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"b"}}`, []string{"v1"}, 0, "k8s\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.conv.Calls.Load()
			tree := parse(t, c.body)
			d, err := c.renderer.Draft(t.Context(), c.renderer.Def.Version(c.at), tree, object.Text{})
			if err != nil || !strings.Contains(string(d.Stored), c.stored) {
				t.Fatalf("got %v, %v", d, err)
			}
			for _, version := range c.views {
				for range 2 {
					if data, err := d.View(t.Context(), version); err != nil || bytes.Contains(data, []byte("resourceVersion")) {
						t.Errorf("%s: %s, %v", version, data, err)
					}
				}
			}
			if n := s.conv.Calls.Load() - before; n != c.conversions {
				t.Errorf("%d conversions, want %d", n, c.conversions)
			}
			want := ""
			if len(c.views) > 0 {
				want = c.views[len(c.views)-1]
			}
			e, view, err := d.Committed(9, want)
			if err != nil || e.Revision != 9 || !bytes.Equal(e.Stored(), d.Stored) || (view == nil) != (want == "") {
				t.Fatalf("got %v, %s, %v", e, view, err)
			}
			fresh := NewEntry(storage.KV{Value: d.Stored, Revision: 9})
			before = s.conv.Calls.Load()
			for _, version := range c.views {
				spared := s.spared.Load()
				got, err := c.renderer.View(t.Context(), e, version)
				if spared = s.spared.Load() - spared; (spared == 1) != (version != c.renderer.Def.StorageVersion) || spared > 1 {
					t.Errorf("%s: %d conversions spared", version, spared)
				}
				if err != nil || s.conv.Calls.Load() != before {
					t.Errorf("%s: %d conversions after the commit, %v", version, s.conv.Calls.Load()-before, err)
				}
				if version == want && &got[0] != &view[0] {
					t.Errorf("%s: another view", version)
				}
				derived, err := c.renderer.View(t.Context(), fresh, version)
				if err != nil || !bytes.Equal(got, derived) {
					t.Errorf("%s: got\n%s\nthe cache derives\n%s\n%v", version, got, derived, err)
				}
				before = s.conv.Calls.Load()
			}
		})
	}
}

// A view whose converter changed while it was made is the writer's alone.
func TestPassingViewsAreNotRemembered(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	d, err := r.Draft(t.Context(), r.Def.Version(v1), parse(t, catalogtest.Tab(v1, "one", "h", "1", `"generation":1`)), object.Text{})
	if err != nil {
		t.Fatal(err)
	}
	s.conv.During = func() { s.conv.Revision.Add(1) }
	made, err := d.View(t.Context(), v1beta1)
	if err != nil || !bytes.Contains(made, []byte("hostPort")) {
		t.Fatal(err)
	}
	s.conv.During = nil
	e, view, err := d.Committed(9, v1beta1)
	if err != nil || !bytes.Contains(view, []byte(`"resourceVersion":"9"`)) {
		t.Fatal(err)
	}
	if v := e.view(r.KeyOf(encoding.At(v1beta1))); v != nil {
		t.Error("it was remembered")
	}
	if v := e.view(r.KeyOf(encoding.At(v1))); v != nil {
		t.Error("the other view was made under the former epoch")
	}
}

// A deletion is marked on what is stored, at whatever version that is.
func TestDraftStored(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	d, err := r.DraftStored(parse(t, catalogtest.Tab(v1beta1, "one", "h", "1", `"resourceVersion":"3"`)))
	if err != nil || !bytes.Contains(d.Stored, []byte(`"hostPort":"h:1"`)) || bytes.Contains(d.Stored, []byte("resourceVersion")) {
		t.Fatalf("got %s, %v", d.Stored, err)
	}
	if data, err := d.View(t.Context(), v1beta1); err != nil || !bytes.Contains(data, []byte(`"generation":1`)) || s.conv.Calls.Load() != 0 {
		t.Errorf("got %s, %v", data, err)
	}
	if data, err := d.View(t.Context(), v1); err != nil || !bytes.Contains(data, []byte(`"host":"h"`)) {
		t.Errorf("got %s, %v", data, err)
	}
	s.conv.BreakDown("broken")
	d, err = r.DraftStored(parse(t, catalogtest.Tab(v1beta1, "one", "h", "1")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.View(t.Context(), v1); err == nil {
		t.Error("a view without a converter")
	}
	if _, err := r.Draft(t.Context(), r.Def.Version(v1beta1), parse(t, catalogtest.Tab(v1beta1, "one", "h", "1")), object.Text{}); err == nil {
		t.Error("stored without a converter")
	}
}

// decoding counts what a codec decodes.
type decoding struct {
	crd.KeepingCodec
	times int
}

func (d *decoding) Decode(stored []byte) (map[string]any, error) {
	d.times++
	return d.KeepingCodec.Decode(stored)
}

// What a codec keeps is not decoded to be shown, and shown as it would be if it were: with
// the defaults that it still lacks. What it does not keep is.
func TestWhatIsKeptIsNotDecoded(t *testing.T) {
	s := newShelf(t)
	for tree, decoded := range map[string]int{
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}}`:                                                         0,
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"secrets":[]}`:                                            1,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`:                                                                 0, // whose type is a default
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","managedFields":[{"manager":"a"}]},"data":{"b":"Yg=="}}`:           0,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","managedFields":[{"manager":"a","apiVersion":"v1"}]},"data":null}`: 1,
	} {
		in, _, err := object.ParseObject([]byte(tree))
		if err != nil {
			t.Fatal(err)
		}
		r := s.builtin("", strings.ToLower(in["kind"].(string))+"s")
		def := *r.Def
		codec := &decoding{KeepingCodec: def.Codec.(crd.KeepingCodec)}
		def.Codec, r.Def = codec, &def
		d, err := r.Draft(s.ctx(), def.Versions[0], in, object.Text{})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := d.View(s.ctx(), "v1")
		if err != nil || codec.times != decoded {
			t.Errorf("%s: decoded %d times, %v", tree, codec.times, err)
		}
		back, _, err := r.restore(StateOf(d.Stored, 0))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(string(back), `,"resourceVersion":"0"`, "", 1); string(shown) != want {
			t.Errorf("shown %s\nread  %s", shown, want)
		}
	}
}
