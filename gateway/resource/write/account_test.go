package write

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// purse is an account of all writes: each is charged to one key, by what the account
// last heard of that.
type purse struct {
	key string
	now int64
	// meddle is called before a charge is told.
	meddle func(n int)
	heard  []string
	ended  int64
}

// Open implements [resource.Accounts].
func (p *purse) Open(context.Context, admission.Attributes) (resource.Account, error) { return p, nil }

// Charge implements [resource.Account].
func (p *purse) Charge(context.Context) ([]resource.Posting, error) {
	if p.meddle(len(p.heard)); p.now == 0 {
		return nil, nil
	}
	return []resource.Posting{{Key: p.key, Stored: []byte("charged"), Revision: p.now}}, nil
}

// Changed implements [resource.Account].
func (p *purse) Changed(key string, now *view.Entry) {
	said := key + " is gone"
	if p.now = 0; now != nil {
		p.now = now.Revision
		said = key + " is " + string(now.Stored())
	}
	p.heard = append(p.heard, said)
}

// Close implements [resource.Account].
func (p *purse) Close(revision int64) {
	if p.ended = revision; revision > 0 && p.now > 0 {
		p.now = revision
	}
}

// Who is charged first by another gateway is charged again, by what that left; a write
// that is refused leaves the account as it was.
func TestChargedAgainWhenOvertaken(t *testing.T) {
	w := newWorld(t)
	p := &purse{key: w.at(v1, "").Resource.Key("default", "purse"), now: w.put("purse", "first"), ended: -1}
	key, others := p.key, []func(){
		func() { w.put("purse", "second") },
		func() {
			if _, err := w.store.Delete(w.ctx(), p.key, w.put("purse", "third")); err != nil {
				t.Error(err)
			}
		},
	}
	p.meddle = func(n int) {
		if n < len(others) {
			others[n]()
		}
	}
	w.accounts = p
	all := others
	for name, want := range map[string][]string{"c": {key + " is second"}, "d": {key + " is second", key + " is gone"}} {
		p.heard, p.now, others = nil, w.put("purse", "first"), all[:len(want)]
		made := w.create(w.builtin("configmaps", "default", name), configMap(name, "1"))
		if !slices.Equal(p.heard, want) {
			t.Errorf("the account heard %q, want %q", p.heard, want)
		}
		if fmt.Sprint(p.ended) != made.GetResourceVersion() {
			t.Errorf("the write ended at %d, not %s", p.ended, made.GetResourceVersion())
		}
		kv, err := w.store.Get(w.ctx(), key)
		if gone := p.now == 0; gone != (err != nil) || !gone && (kv.Revision != p.ended || string(kv.Value) != "charged") {
			t.Errorf("%v, %v, where the write ended at %d", kv, err, p.ended)
		}
	}
	p.heard, others = nil, nil
	_, err := w.Create(w.ctx(), w.builtin("configmaps", "default", "c"), []byte(configMap("c", "2")), resource.WriteOptions{})
	refused(t, err, 409, "AlreadyExists", "")
	if p.ended != 0 || len(p.heard) > 0 {
		t.Errorf("a write that failed ended at %d, after %q", p.ended, p.heard)
	}
}
