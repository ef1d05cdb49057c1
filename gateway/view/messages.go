package view

import (
	"errors"
	"slices"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// asSent is the object of e in an encoding where what is stored was seen to be it;
// nil where it was not. Messages other than those that were seen are put into memory.
func (r *Renderer) asSent(e *Entry, in encoding.Encoding, memory *arena) encoding.Object {
	s := e.base().canonical.Load()
	if s == nil || s.definition != r.epoch || !in.Stored() || in.Form == encoding.Whole && in.Version != s.version {
		return nil
	}
	if in.Form == encoding.Whole && e.last == nil {
		return &s.Message
	}
	m := s.At(e.Revision)
	if in.Form == encoding.Metadata {
		m = m.Metadata()
	}
	return memory.put(m)
}

// arena is memory for messages of one list; nil is that for one of them.
type arena struct {
	messages []wire.Message
	most     int
}

func (a *arena) put(m wire.Message) *wire.Message {
	if a == nil {
		one := m
		return &one
	}
	if a.messages == nil {
		a.messages = make([]wire.Message, 0, a.most)
	}
	a.messages = append(a.messages, m)
	return &a.messages[len(a.messages)-1]
}

// stored fills out with those that are due and are stored as they are sent, on all
// cores, and returns the others.
func (r *Renderer) stored(entries []*Entry, due []int, in encoding.Encoding, out []encoding.Object) ([]int, error) {
	if !in.Stored() {
		return due, nil
	}
	probe := r.probe
	if in.Form == encoding.Metadata {
		probe = r.cutMetadata
	}
	messages := make([]wire.Message, len(due))
	err := Spread(len(due), func(n int) error {
		i := due[n]
		seen, err := probe(entries[i], in, &messages[n])
		if seen {
			out[i] = &messages[n]
		}
		return err
	})
	return slices.DeleteFunc(due, func(i int) bool { return out[i] != nil }), err
}

// cutMetadata takes the metadata out of what is stored, if it is a message.
func (r Stored) cutMetadata(e *Entry, _ encoding.Encoding, into *wire.Message) (bool, error) {
	base := e.base()
	if base.storedJSON() {
		return false, nil
	}
	in, err := wire.Open(base.bytes())
	if err != nil {
		return false, r.Unreadable(e, err)
	}
	m, err := wire.New(in.Raw, e.Revision)
	if errors.Is(err, wire.ErrIrregular) {
		return false, nil
	}
	if err != nil {
		return false, r.Unreadable(e, err)
	}
	*into = m.Metadata()
	return true, nil
}

// probe sees whether reading what is stored and writing it again gives the same,
// which is then the message at its version: nothing is missing in it.
func (r *Renderer) probe(e *Entry, in encoding.Encoding, into *wire.Message) (bool, error) {
	base := e.base()
	raw := r.storedMessage(base, in.Version)
	if raw == nil {
		return false, nil
	}
	tree, _, err := r.restoreTree(base)
	if err != nil {
		return false, err
	}
	dropRevision(tree)
	again, err := r.Def.Codec.Encode(tree)
	if err != nil {
		return false, r.Unreadable(e, err)
	}
	m, err := wire.New(raw, base.Revision)
	if err != nil || !base.IsStoredAs(again) {
		return false, nil
	}
	base.canonical.Store(&canonicalMessage{m, r.epoch, in.Version})
	r.memory.Grew(fixedBytes)
	*into = m.At(e.Revision)
	return true, nil
}

// canonicalMessage is what is stored, seen to be the message at a version by a
// definition.
type canonicalMessage struct {
	wire.Message
	definition uint64
	version    string
}

// canonicalAsSent remembers of what a writer made that reading it and writing it again
// gives the same.
func (r *Renderer) canonicalAsSent(e *Entry) {
	version := r.Def.StorageVersion
	if m, err := wire.New(r.storedMessage(e, version), e.Revision); err == nil {
		e.canonical.Store(&canonicalMessage{m, r.epoch, version})
		r.memory.Grew(fixedBytes)
	}
}

// canonicalIn is s in the memory of another entry of the same bytes; nil where
// there is none.
func (s *canonicalMessage) canonicalIn(e *Entry) *canonicalMessage {
	if s == nil {
		return nil
	}
	in, err := wire.Open(e.bytes())
	if err != nil {
		return nil
	}
	m, err := wire.New(in.Raw, e.Revision)
	if err != nil {
		return nil
	}
	return &canonicalMessage{m, s.definition, s.version}
}
