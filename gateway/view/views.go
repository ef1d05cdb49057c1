package view

import (
	"context"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Renderer derives the views of the objects of a kind, and remembers them. It is of
// one form of the kind's definition, and immutable.
type Renderer struct {
	Converter
	// epoch is of the definition.
	epoch  uint64
	memory *Memory
}

var epochs atomic.Uint64

// New makes the renderer of a definition, whose views replace those that one made
// before did. A nil converter is that of the definition, or none.
func New(def *crd.Definition, c conversion.Converter, m *Memory) *Renderer {
	switch {
	case c != nil:
	case def.Convert != nil:
		c = function.Converter(def.Convert)
	default:
		c = conversion.None{}
	}
	return &Renderer{Converter: newConverter(def, c), epoch: epochs.Add(1), memory: m}
}

// Memory is where what is remembered is counted.
func (r *Renderer) Memory() *Memory { return r.memory }

// KeyOf is the key of a view as it would be derived now. No converter makes metadata.
func (r *Renderer) KeyOf(in encoding.Encoding) Key {
	k := Key{definition: r.epoch, Encoding: in}
	if in.Form == encoding.Whole {
		k.converter = r.bulk.Epoch()
	}
	return k
}

// remember keeps a view of an entry for those who ask for it next.
func (r *Renderer) remember(e *Entry, v *view) {
	e.addView(v)
	r.memory.Grew(v.size())
}

// rememberText does it with a whole object in JSON, where it can in one memory with
// what is stored, and returns the view.
func (r *Renderer) rememberText(e *Entry, k Key, data []byte, converted bool) *view {
	if !converted {
		if v := e.merge(k, data); v != nil {
			return v
		}
	}
	v := &view{Key: k, data: data, converted: converted}
	r.remember(e, v)
	return v
}

// View returns the object of e at a version: complete JSON with its
// resourceVersion. The bytes are shared and must not be changed.
func (r *Renderer) View(ctx context.Context, e *Entry, version string) ([]byte, error) {
	o, err := r.Object(ctx, e, encoding.At(version))
	if err != nil {
		return nil, err
	}
	return o.Bytes(), nil
}

// Object returns the object of e in an encoding.
func (r *Renderer) Object(ctx context.Context, e *Entry, in encoding.Encoding) (encoding.Object, error) {
	o, converted, err := r.known(e, r.KeyOf(in), nil)
	if o != nil || err != nil {
		if converted {
			r.memory.Spared(1)
		}
		return o, err
	}
	out, err := r.Objects(ctx, nil, []*Entry{e}, in)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Objects appends the objects of entries in an encoding to dst. What is not
// remembered is derived on all cores. All other encodings are made of JSON, unless
// it is seen that what is stored is what is sent, which is not kept either.
func (r *Renderer) Objects(ctx context.Context, dst []encoding.Object, entries []*Entry, in encoding.Encoding) ([]encoding.Object, error) {
	first, k, memory := len(dst), r.KeyOf(in), arena{most: len(entries)}
	dst = append(dst, make([]encoding.Object, len(entries))...)
	out := dst[first:]
	var due []int
	spared := 0
	for i, e := range entries {
		o, converted, err := r.known(e, k, &memory)
		if err != nil {
			return nil, err
		}
		if out[i] = o; o == nil {
			due = append(due, i)
		} else if converted {
			spared++
		}
	}
	r.memory.Spared(spared)
	if len(due) == 0 {
		return dst, nil
	}
	derive := r.encode
	if in == in.Base() {
		derive = r.texts
		if in.Form == encoding.Metadata {
			derive = r.metadata
		}
	}
	return dst, derive(ctx, entries, due, k, out)
}

// known is the object of e if nothing has to be decoded for it, and whether a
// converter made it.
func (r *Renderer) known(e *Entry, k Key, memory *arena) (o encoding.Object, converted bool, err error) {
	if k.Encoding == k.Base() {
		if v := e.view(k); v != nil {
			return &v.data, v.converted, nil
		}
		return nil, false, nil
	}
	if o := r.asSent(e, k.Encoding, memory); o != nil {
		return o, false, nil
	}
	v := e.base().view(k)
	if v == nil {
		return nil, false, nil
	}
	if o, err = v.of(e); err != nil {
		return nil, false, r.Unreadable(e, err)
	}
	return o, false, nil
}

// encode fills out with those that are due: what is stored as it is sent, and all
// others from their JSON, on all cores, which is remembered.
func (r *Renderer) encode(ctx context.Context, entries []*Entry, due []int, k Key, out []encoding.Object) error {
	due, err := r.stored(entries, due, k.Encoding, out)
	if err != nil || len(due) == 0 {
		return err
	}
	bases := make([]*Entry, len(due))
	for n, i := range due {
		bases[n] = entries[i].base()
	}
	texts, err := r.Objects(ctx, nil, bases, k.Base())
	if err != nil {
		return err
	}
	keeper, version := k.Media.Keeper(), r.Def.Version(k.Version)
	return Spread(len(due), func(n int) error {
		made := &view{Key: k}
		var err error
		if made.data, err = keeper.Keep(texts[n].Bytes(), k.Encoding, version); err != nil {
			return r.Unreadable(bases[n], err)
		}
		o, err := keeper.Object(made.data, bases[n].Revision)
		if err != nil {
			return r.Unreadable(bases[n], err)
		}
		made.more.Store(&more{object: o})
		// A converter that changed meanwhile may or may not have made the text.
		if r.KeyOf(k.Encoding) == k {
			r.remember(bases[n], made)
		}
		out[due[n]], err = made.of(entries[due[n]])
		return err
	})
}
