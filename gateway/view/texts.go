package view

import (
	"context"
	"runtime"
	"slices"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// chunk is how many views one caller derives at a time; others who want one of
// them wait for no more than that. It is enough for every core to have a full
// call of the converter.
func chunk() int { return conversion.MaxObjects * runtime.GOMAXPROCS(0) }

// job asks for the view of one entry, which is no tombstone.
type job struct {
	entry *Entry
	at    int // which of the entries asked for it
	made  *view
}

// texts fills out with those that are due, whole and in JSON, on all cores.
func (r *Renderer) texts(ctx context.Context, entries []*Entry, due []int, k Key, out []encoding.Object) error {
	var local, foreign []job
	for _, i := range due {
		j := job{entry: entries[i].base(), at: i}
		// What needs no conversion must not wait for what does.
		if r.StoredAt(j.entry, k.Version) {
			local = append(local, j)
		} else {
			foreign = append(foreign, j)
		}
	}
	for _, jobs := range [...][]job{local, foreign} {
		for batch := range slices.Chunk(jobs, chunk()) {
			if ctx.Err() != nil {
				return ErrTimeout()
			}
			if err := r.derive(ctx, batch, k); err != nil {
				return err
			}
			for _, j := range batch {
				e, v := entries[j.at], j.made
				if e.last != nil {
					data, err := object.WithRevision(v.data, e.Revision)
					if err != nil {
						return r.Unreadable(e, err)
					}
					v = &view{Key: k, data: data, converted: v.converted}
					r.remember(e, v)
				}
				out[j.at] = &v.data
			}
		}
	}
	return nil
}

// asStored is restore, or what it gave before.
func (r *Renderer) asStored(e *Entry) ([]byte, string, error) {
	if v := e.view(r.KeyOf(encoding.At(r.Def.StorageVersion))); v != nil && !v.converted {
		return v.data, v.Version, nil
	}
	return r.restore(e)
}

// deriveAll derives in f the jobs that are due, on all cores, and remembers the
// outcome of each as soon as it is there: what was derived before a failure
// need not be derived again.
func (r *Renderer) deriveAll(ctx context.Context, f *flight, jobs []job, due []int) error {
	k := f.Key
	restored := make([][]byte, len(due)) // those that are stored at another version
	err := Spread(len(due), func(n int) error {
		j := &jobs[due[n]]
		data, version, err := r.asStored(j.entry)
		if err != nil {
			return err
		}
		if version != k.Version {
			restored[n] = data
			return nil
		}
		j.made = r.rememberText(j.entry, k, data, false)
		return nil
	})
	if err != nil {
		return err
	}
	var foreign []int
	var objects [][]byte
	for n, data := range restored {
		if data != nil {
			foreign, objects = append(foreign, due[n]), append(objects, data)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	shared, end := f.converting(ctx)
	defer end()
	return r.convertEach(shared, k.Version, objects, func(n int, data []byte) {
		j := &jobs[foreign[n]]
		j.made = &view{Key: k, data: data, converted: true}
		// A converter that changed meanwhile may or may not have made this.
		if r.KeyOf(k.Encoding) == k {
			r.remember(j.entry, j.made)
		}
	})
}
