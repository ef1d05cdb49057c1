package resource

import (
	"context"
	"slices"

	"github.com/wasmgate/wasmgate/crd/object"
)

// conversionBatch is the most objects sent to a converter at once.
const conversionBatch = 500

// View returns the object of e at a version: complete JSON with its
// resourceVersion. The bytes are shared and must not be changed.
func (r *Resource) View(ctx context.Context, e *Entry, version string) ([]byte, error) {
	if v := e.view(r.viewKey(version)); v != nil {
		return v.json, nil
	}
	out, err := r.Views(ctx, []*Entry{e}, version)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// job asks for the object of one entry, which is no tombstone.
type job struct {
	entry *Entry
	at    int // which of the entries asked for it
	json  []byte
}

// Views returns the objects of entries at a version, as [Resource.View] does.
// What is not remembered is converted in batches.
func (r *Resource) Views(ctx context.Context, entries []*Entry, version string) ([][]byte, error) {
	k := r.viewKey(version)
	out := make([][]byte, len(entries))
	var local, foreign []job
	for i, e := range entries {
		if v := e.view(k); v != nil {
			out[i] = v.json
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
	for _, jobs := range [...][]job{local, foreign} {
		for batch := range slices.Chunk(jobs, conversionBatch) {
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
					return nil, r.unreadable(e, err)
				}
				e.addView(k, data)
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

// deriveAll derives the jobs that are due and remembers the outcome.
func (r *Resource) deriveAll(ctx context.Context, jobs []job, due []int, k viewKey) error {
	var foreign []int
	var batch [][]byte
	for _, i := range due {
		e := jobs[i].entry
		data, version, err := r.restore(e)
		if err != nil {
			return err
		}
		if version != k.version {
			foreign, batch = append(foreign, i), append(batch, data)
			continue
		}
		jobs[i].json = data
		e.addView(k, data)
	}
	if len(foreign) == 0 {
		return nil
	}
	out, err := r.convert(ctx, k.version, batch)
	if err != nil {
		return err
	}
	// A converter that changed meanwhile may or may not have made this.
	remember := r.viewKey(k.version) == k
	for n, i := range foreign {
		jobs[i].json = out[n]
		if remember {
			jobs[i].entry.addView(k, out[n])
		}
	}
	return nil
}

// MetadataView is the object as PartialObjectMetadata. It never converts.
func (r *Resource) MetadataView(e *Entry) ([]byte, error) {
	k := viewKey{definition: r.epoch, version: metadataView}
	if v := e.view(k); v != nil {
		return v.json, nil
	}
	meta, err := r.metadataJSON(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(meta)+120)
	out = append(out, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`...)
	if out, err = object.AppendMetadata(out, meta, e.Revision); err != nil {
		return nil, r.unreadable(e, err)
	}
	out = append(out, '}')
	e.addView(k, out)
	return out, nil
}

// metadataJSON is the metadata object of the stored bytes; its
// resourceVersion, if any, is not to be trusted.
func (r *Resource) metadataJSON(e *Entry) ([]byte, error) {
	data := e.Stored
	if !e.storedJSON() {
		var err error
		if data, err = r.View(context.Background(), e, r.Def.StorageVersion); err != nil {
			return nil, err
		}
	}
	s, end, err := object.Metadata(data)
	if err != nil {
		return nil, r.unreadable(e, err)
	}
	return data[s:end], nil
}
