package catalog

import (
	"context"
	"runtime"
	"slices"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd/object"
)

// chunk is how many views one caller derives at a time; others who want one of
// them wait for no more than that. It is enough for every core to have a full
// call of the converter.
func chunk() int { return conversion.MaxObjects * runtime.GOMAXPROCS(0) }

// View returns the object of e at a version: complete JSON with its
// resourceVersion. The bytes are shared and must not be changed.
func (r *Resource) View(ctx context.Context, e *Entry, version string) ([]byte, error) {
	if v := e.view(r.viewKey(version)); v != nil {
		if v.converted {
			r.spared(1)
		}
		return v.data, nil
	}
	out, err := r.Views(ctx, []*Entry{e}, version)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// job asks for the object of one entry, which is no tombstone.
type job struct {
	entry     *Entry
	at        int // which of the entries asked for it
	json      []byte
	converted bool
}

// Views returns the objects of entries at a version, as [Resource.View] does.
// What is not remembered is derived on all cores.
func (r *Resource) Views(ctx context.Context, entries []*Entry, version string) ([][]byte, error) {
	k := r.viewKey(version)
	out := make([][]byte, len(entries))
	var local, foreign []job
	spared := 0
	for i, e := range entries {
		if v := e.view(k); v != nil {
			if out[i] = v.data; v.converted {
				spared++
			}
			continue
		}
		j := job{entry: e.base(), at: i}
		// What needs no conversion must not wait for what does.
		if r.storedAt(j.entry, version) {
			local = append(local, j)
		} else {
			foreign = append(foreign, j)
		}
	}
	r.spared(spared)
	for _, jobs := range [...][]job{local, foreign} {
		for batch := range slices.Chunk(jobs, chunk()) {
			if ctx.Err() != nil {
				return nil, ErrTimeout()
			}
			if err := r.derive(ctx, batch, k); err != nil {
				return nil, err
			}
			for _, j := range batch {
				e := entries[j.at]
				if out[j.at] = j.json; e.last == nil {
					continue
				}
				data, err := object.WithRevision(j.json, e.Revision)
				if err != nil {
					return nil, r.Unreadable(e, err)
				}
				r.remember(e, &view{viewKey: k, data: data, converted: j.converted})
				out[j.at] = data
			}
		}
	}
	return out, nil
}

// storedAt tells, without decoding, whether an entry is stored at a version.
// It may say no of one that is.
func (r *Resource) storedAt(e *Entry, version string) bool {
	if !e.storedJSON() {
		return false
	}
	s, ok := object.String(object.Field(e.Stored, "apiVersion"))
	return ok && s == r.Def.APIVersion(version)
}

// asStored is restore, or what it gave before.
func (r *Resource) asStored(e *Entry) ([]byte, string, error) {
	if v := e.view(r.viewKey(r.Def.StorageVersion)); v != nil && !v.converted {
		return v.data, v.version, nil
	}
	return r.restore(e)
}

// deriveAll derives in f the jobs that are due, on all cores, and remembers the
// outcome of each as soon as it is there: what was derived before a failure
// need not be derived again.
func (r *Resource) deriveAll(ctx context.Context, f *flight, jobs []job, due []int) error {
	k := f.viewKey
	restored := make([][]byte, len(due)) // those that are stored at another version
	err := spread(len(due), func(n int) error {
		j := &jobs[due[n]]
		data, version, err := r.asStored(j.entry)
		if err != nil {
			return err
		}
		if version != k.version {
			restored[n] = data
			return nil
		}
		j.json = data
		r.remember(j.entry, &view{viewKey: k, data: data})
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
	return r.convertEach(shared, k.version, objects, func(n int, data []byte) {
		j := &jobs[foreign[n]]
		j.json, j.converted = data, true
		// A converter that changed meanwhile may or may not have made this.
		if r.viewKey(k.version) == k {
			r.remember(j.entry, &view{viewKey: k, data: data, converted: true})
		}
	})
}
