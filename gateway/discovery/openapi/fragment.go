package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// section is a part of a version 2 document that holds things by name.
type section int

const (
	pathSection section = iota
	definitionSection
	parameterSection
	sections
)

// names are the sections' fields in documents.
var names = [sections]string{"paths", "definitions", "parameters"}

// fragment is one thing of a section, encoded. It is immutable and safe for
// concurrent use.
type fragment struct {
	section section
	name    string
	// json is the thing as a member of the section, with its name.
	json []byte
	// protobuf is the thing as an element of the section's list, with what goes before
	// elements, made once.
	protobuf func() ([]byte, error)
	// reported: somebody was told that there is none.
	reported sync.Once
}

// fragments are what one kind adds to the document, sorted by section and name.
type fragments []*fragment

// shared holds one copy of each fragment that many kinds have, such as the
// schema of metadata. These depend on nothing but the library, so they are few,
// and kept for the life of the process.
var shared sync.Map // of *fragment by sharedKey

type sharedKey struct {
	section section
	name    string
	digest  [sha256.Size]byte
}

// fragmentsOf encodes a document piece by piece. own are the names of the
// definitions that no other kind has.
func fragmentsOf(doc *spec.Swagger, own []string) (fragments, error) {
	var out fragments
	add := func(s section, name string, thing any, common bool) error {
		text, err := json.Marshal(thing)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f, err := newFragment(s, name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if common {
			kept, _ := shared.LoadOrStore(sharedKey{s, name, sha256.Sum256(text)}, f)
			f = kept.(*fragment)
		}
		out = append(out, f)
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(doc.Paths.Paths)) {
		errs = append(errs, add(pathSection, name, doc.Paths.Paths[name], false))
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Definitions)) {
		errs = append(errs, add(definitionSection, name, doc.Definitions[name], !slices.Contains(own, name)))
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Parameters)) {
		errs = append(errs, add(parameterSection, name, doc.Parameters[name], true))
	}
	return out, errors.Join(errs...)
}

func newFragment(s section, name string, text []byte) (*fragment, error) {
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	f := &fragment{section: s, name: name, json: slices.Concat(key, []byte(":"), text)}
	f.protobuf = sync.OnceValues(func() ([]byte, error) { return made(f.makeProtobuf) })
	return f, nil
}

// makeProtobuf has the library read a document with nothing else in it.
func (f *fragment) makeProtobuf() ([]byte, error) {
	text := Body{[]byte(`{"swagger":"2.0","info":{"title":"t","version":"v"}`)}
	if f.section != pathSection {
		text = append(text, []byte(`,"paths":{}`))
	}
	if _, values := Extent(f.json); values > maxValues {
		return nil, fmt.Errorf("%s: it has more than %d values", f.name, maxValues)
	}
	doc, err := openapiv2.ParseDocument(readable(append(appendSection(text, fragments{f}), closing).Joined()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	var thing proto.Message
	switch f.section {
	case pathSection:
		thing = doc.Paths.Path[0]
	case definitionSection:
		thing = doc.Definitions.AdditionalProperties[0]
	default:
		thing = doc.Parameters.AdditionalProperties[0]
	}
	size := proto.Size(thing)
	out := make([]byte, 0, size+2*protowire.SizeTag(1)+protowire.SizeVarint(uint64(size)))
	out = protowire.AppendTag(out, f.section.element(), protowire.BytesType)
	return proto.MarshalOptions{}.MarshalAppend(protowire.AppendVarint(out, uint64(size)), thing)
}

// The ends of objects, and what is between their members.
var comma, closing = []byte(","), []byte("}")

// appendSection appends things of one section as a field of the document.
func appendSection(b Body, all fragments) Body {
	b = append(b, fmt.Appendf(nil, `,"%s":{`, names[all[0].section]))
	for i, f := range all {
		if i > 0 {
			b = append(b, comma)
		}
		b = append(b, f.json)
	}
	return append(b, closing)
}

// joined puts the fragments of kinds together by section and name. Of those
// with the same name the first one stays: built-in kinds come first, so a custom
// resource cannot take over the name of one of theirs.
func joined(kinds []fragments) [sections]fragments {
	var out [sections]fragments
	var seen [sections]map[string]bool
	for s := range seen {
		seen[s] = map[string]bool{}
	}
	for _, all := range kinds {
		for _, f := range all {
			if !seen[f.section][f.name] {
				seen[f.section][f.name] = true
				out[f.section] = append(out[f.section], f)
			}
		}
	}
	for _, all := range out {
		slices.SortFunc(all, func(a, b *fragment) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	}
	return out
}

// joinJSON is the whole document.
func joinJSON(all [sections]fragments) (Body, error) {
	about, err := json.Marshal(info())
	if err != nil {
		return nil, err
	}
	out := Body{fmt.Appendf(nil, `{"swagger":"2.0","info":%s`, about)}
	for _, s := range all {
		if len(s) > 0 {
			out = appendSection(out, s)
		}
	}
	return append(out, closing), nil
}

// joinProtobuf is the whole document. The sections are messages that hold
// nothing but a list, so they are joined without looking into the fragments.
func joinProtobuf(all [sections]fragments) (Body, error) {
	about, err := proto.Marshal(&openapiv2.Document{
		Swagger: "2.0", Info: &openapiv2.Info{Title: info().Title, Version: info().Version},
	})
	if err != nil {
		return nil, err
	}
	out := Body{about}
	for s, list := range all {
		if len(list) == 0 {
			continue
		}
		var elements Body
		for _, f := range list {
			element, err := f.protobuf()
			if err != nil {
				return nil, err
			}
			elements = append(elements, element)
		}
		head := protowire.AppendTag(nil, section(s).field().Number(), protowire.BytesType)
		out = append(append(out, protowire.AppendVarint(head, uint64(elements.Length()))), elements...)
	}
	return out, nil
}

// field is the section in documents as protobuf.
func (s section) field() protoreflect.FieldDescriptor {
	return (&openapiv2.Document{}).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(names[s]))
}

// element is the number of the list in the section's message.
func (s section) element() protowire.Number {
	fields := s.field().Message().Fields()
	for _, name := range []protoreflect.Name{"path", "additional_properties"} {
		if f := fields.ByName(name); f != nil {
			return f.Number()
		}
	}
	return 0
}
