package catalog

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// View returns the object of e at a version: complete JSON with its
// resourceVersion. The bytes are shared and must not be changed.
func (r *Resource) View(ctx context.Context, e *Entry, version string) ([]byte, error) {
	o, err := r.Object(ctx, e, encoding.At(version))
	if err != nil {
		return nil, err
	}
	return o.Bytes(), nil
}

// Object returns the object of e in an encoding.
func (r *Resource) Object(ctx context.Context, e *Entry, in encoding.Encoding) (encoding.Object, error) {
	o, converted, err := r.known(e, r.key(in), nil)
	if o != nil || err != nil {
		if converted {
			r.spared(1)
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
func (r *Resource) Objects(ctx context.Context, dst []encoding.Object, entries []*Entry, in encoding.Encoding) ([]encoding.Object, error) {
	first, k, memory := len(dst), r.key(in), arena{most: len(entries)}
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
	r.spared(spared)
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
func (r *Resource) known(e *Entry, k viewKey, memory *arena) (o encoding.Object, converted bool, err error) {
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
func (r *Resource) encode(ctx context.Context, entries []*Entry, due []int, k viewKey, out []encoding.Object) error {
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
	return spread(len(due), func(n int) error {
		made := &view{viewKey: k}
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
		if r.key(k.Encoding) == k {
			r.remember(bases[n], made)
		}
		out[due[n]], err = made.of(entries[due[n]])
		return err
	})
}
