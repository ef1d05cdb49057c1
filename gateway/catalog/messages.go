package catalog

import (
	"bytes"
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// Messages returns the objects of entries at a version, which must be native,
// as protobuf. What is stored as protobuf at that version is sent as it is
// stored: each entry is decoded once, to see that nothing is missing in it, and
// nothing is kept but that it was seen.
func (r *Resource) Messages(ctx context.Context, entries []*Entry, version *crd.Version) ([]wire.Message, error) {
	out := make([]wire.Message, len(entries))
	k := r.messageKey(version.Name)
	var due []int
	for i, e := range entries {
		base := e.base()
		if s := base.settled.Load(); s != nil && s.definition == r.epoch && s.version == version.Name {
			out[i] = s.At(e.Revision)
			continue
		}
		v := base.view(k)
		if v == nil {
			due = append(due, i)
			continue
		}
		var err error
		if out[i], err = r.message(e, v.data); err != nil {
			return nil, err
		}
	}
	if len(due) == 0 {
		return out, nil
	}
	unsettled, err := r.settle(entries, due, version, out)
	if err != nil {
		return nil, err
	}
	return out, r.encode(ctx, entries, unsettled, version, out)
}

// message is what is sent of an entry whose bare message is raw.
func (r *Resource) message(e *Entry, raw []byte) (wire.Message, error) {
	m, err := wire.New(raw, e.Revision)
	if err != nil {
		return m, r.Unreadable(e, err)
	}
	return m, nil
}

// settledMessage is what is stored, seen to be the message at a version by a
// definition.
type settledMessage struct {
	wire.Message
	definition uint64
	version    string
}

// settleAsSent notes of what a writer made that reading it and writing it again
// gives the same.
func (r *Resource) settleAsSent(e *Entry) {
	version := r.Def.Version(r.Def.StorageVersion)
	if m, err := wire.New(r.storedMessage(e, version), e.Revision); err == nil {
		e.settled.Store(&settledMessage{m, r.epoch, version.Name})
		r.memory.grew(fixedBytes)
	}
}

// settledIn is s in the memory of another entry of the same bytes; nil where
// there is none.
func (s *settledMessage) settledIn(e *Entry) *settledMessage {
	if s == nil {
		return nil
	}
	in, err := wire.Open(e.Stored)
	if err != nil {
		return nil
	}
	m, err := wire.New(in.Raw, e.Revision)
	if err != nil {
		return nil
	}
	return &settledMessage{m, s.definition, s.version}
}

// storedMessage is what is stored, if that is a message at a version.
func (r *Resource) storedMessage(e *Entry, version *crd.Version) []byte {
	if e.storedJSON() {
		return nil
	}
	in, err := wire.Open(e.Stored)
	if err != nil || in.APIVersion != r.Def.APIVersion(version.Name) || in.Kind != r.Def.Kind {
		return nil
	}
	return in.Raw
}

// settle fills in out those that are due and that are stored as they are sent,
// on all cores, and returns the others.
func (r *Resource) settle(entries []*Entry, due []int, version *crd.Version, out []wire.Message) ([]int, error) {
	others := make([]bool, len(due))
	err := spread(len(due), func(n int) error {
		e := entries[due[n]]
		raw := r.storedMessage(e.base(), version)
		if raw == nil {
			others[n] = true
			return nil
		}
		tree, _, err := r.restoreTree(e.base())
		if err != nil {
			return err
		}
		dropRevision(tree)
		again, err := r.Def.Codec.Encode(tree)
		if err != nil {
			return r.Unreadable(e, err)
		}
		m, err := wire.New(raw, e.Revision)
		if err != nil || !bytes.Equal(again, e.base().Stored) {
			others[n] = true
			return nil
		}
		e.base().settled.Store(&settledMessage{m, r.epoch, version.Name})
		r.memory.grew(fixedBytes)
		out[due[n]] = m
		return nil
	})
	left := due[:0]
	for n, i := range due {
		if others[n] {
			left = append(left, i)
		}
	}
	return left, err
}

// encode fills in out those that are due from their JSON, on all cores, and
// remembers them.
func (r *Resource) encode(ctx context.Context, entries []*Entry, due []int, version *crd.Version, out []wire.Message) error {
	k := r.messageKey(version.Name)
	bases := make([]*Entry, len(due))
	for n, i := range due {
		bases[n] = entries[i].base()
	}
	views, err := r.Views(ctx, bases, version.Name)
	if err != nil {
		return err
	}
	return spread(len(due), func(n int) error {
		raw, err := wire.FromJSON(views[n], version.Typed())
		if err != nil {
			return r.Unreadable(bases[n], err)
		}
		if r.messageKey(version.Name) == k {
			r.remember(bases[n], &view{viewKey: k, data: raw})
		}
		out[due[n]], err = r.message(entries[due[n]], raw)
		return err
	})
}

// MetadataMessages are the objects of entries as PartialObjectMetadata in
// protobuf. They never convert, and exist for custom resources too.
func (r *Resource) MetadataMessages(entries []*Entry) ([]wire.Message, error) {
	out := make([]wire.Message, len(entries))
	return out, spread(len(entries), func(i int) (err error) {
		out[i], err = r.metadataMessage(entries[i])
		return err
	})
}

func (r *Resource) metadataMessage(e *Entry) (wire.Message, error) {
	base, k := e.base(), r.metadataMessageKey()
	if s := base.settled.Load(); s != nil && s.definition == r.epoch {
		return s.At(e.Revision).Metadata(), nil
	}
	if v := base.view(k); v != nil {
		return r.message(e, v.data)
	}
	if !base.storedJSON() {
		in, err := wire.Open(base.Stored)
		if err != nil {
			return wire.Message{}, r.Unreadable(e, err)
		}
		m, err := wire.New(in.Raw, e.Revision)
		if err == nil {
			return m.Metadata(), nil
		}
		if !errors.Is(err, wire.ErrIrregular) {
			return m, r.Unreadable(e, err)
		}
	}
	data, err := r.MetadataView(base)
	if err != nil {
		return wire.Message{}, err
	}
	raw, err := wire.FromJSON(data, &metav1.PartialObjectMetadata{})
	if err != nil {
		return wire.Message{}, r.Unreadable(e, err)
	}
	r.remember(base, &view{viewKey: k, data: raw})
	return r.message(e, raw)
}
