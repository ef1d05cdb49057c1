// Package encoding owns how objects are encoded in replies: the media types, and
// in each of them one object, a list and an event of a watch. A media type is one
// file, and a line of the table below.
//
// It knows what all objects of Kubernetes have in common and no kind. It must not
// know where objects come from, what was asked for, or HTTP.
package encoding

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// Form is which part of an object is shown.
type Form uint8

const (
	// Whole is the object itself.
	Whole Form = iota
	// Metadata is the object as PartialObjectMetadata, which needs no conversion.
	Metadata
)

// Encoding says how objects are encoded. Of an object at a revision two of the same
// encoding are the same bytes.
type Encoding struct {
	// Version is that of the kind; in form Metadata it is that of meta.k8s.io.
	Version string
	Form    Form
	// Media is one that objects are kept in ([Media.Kept]).
	Media Media
	// Unmanaged: without metadata.managedFields.
	Unmanaged bool
}

// At is the encoding that all others are made of: whole objects in JSON, at a version.
func At(version string) Encoding { return Encoding{Version: version, Media: JSON} }

// MetadataOnly is metadata in JSON.
func MetadataOnly() Encoding { return Encoding{Version: "v1", Form: Metadata, Media: JSON} }

// Base is the encoding that e is made of: itself, if that is of what is stored.
func (e Encoding) Base() Encoding {
	e.Unmanaged = e.Unmanaged && e.Media != JSON // first without, then in the media type
	e.Media = JSON
	return e
}

// Stored reports whether the store may hold objects as they are sent.
func (e Encoding) Stored() bool { return e.Media == Protobuf && !e.Unmanaged }

// Media is a media type. The zero Media is none.
type Media uint8

const (
	// JSON is canonical: sorted fields, no spaces.
	JSON Media = 1 + iota
	// Indented is JSON for people.
	Indented
	// YAML is not offered for watches.
	YAML
	// Protobuf is there of built-in kinds, and of the metadata of all.
	Protobuf
	// CBOR is what the library makes of the JSON.
	CBOR
)

// Names of media types, of bodies as of replies.
const (
	TypeJSON     = "application/json"
	TypeYAML     = "application/yaml"
	TypeProtobuf = wire.MediaType
	TypeCBOR     = "application/cbor"
)

// medium is what there is of a media type.
type medium struct {
	// name is its Content-Type, and stream that of a watch, "" for none.
	name, stream string
	// separator stands between the items of a list.
	separator string
	Codec
	// Keeper is nil where objects are encoded each time, from JSON.
	Keeper
}

var media = [...]medium{
	JSON:     {TypeJSON, TypeJSON, ",", text{}, text{}},
	Indented: {TypeJSON, TypeJSON, ",", indented{}, nil},
	YAML:     {TypeYAML, "", "", yamlText{}, nil},
	Protobuf: {TypeProtobuf, wire.StreamMediaType, "", message{}, message{}},
	CBOR:     {TypeCBOR, "application/cbor-seq", "", binary{}, nil},
}

// Name is the Content-Type of an object or a list.
func (m Media) Name() string { return media[m].name }

// Stream is the Content-Type of a watch; "" where there is none.
func (m Media) Stream() string { return media[m].stream }

// Separator is what stands between two items of a list.
func (m Media) Separator() string { return media[m].separator }

// Codec is how replies are encoded.
func (m Media) Codec() Codec { return media[m].Codec }

// Keeper is how objects are kept; nil where they are not kept in this media type.
func (m Media) Keeper() Keeper { return media[m].Keeper }

// Kept is the media type that objects are kept in to be sent in this one.
func (m Media) Kept() Media {
	if media[m].Keeper == nil {
		return JSON
	}
	return m
}

// Object is one object in an encoding, at a revision. It is immutable.
type Object interface {
	// Bytes are the object; they are shared and must not be changed.
	Bytes() []byte
	// Size is how many there are.
	Size() int
	// AppendTo appends them.
	AppendTo(dst []byte) []byte
}

// Codec encodes replies in a media type. The objects that it is given are of the
// media type that it is kept in.
type Codec interface {
	// Document encodes a JSON text that is kept nowhere. Objects of the request's
	// kind in it are of version, which may be nil where there are none.
	Document(text []byte, version *crd.Version) ([]byte, error)
	// Single is one object as a reply. What it returns may be shared
	// and must not be changed.
	Single(o Object, kind schema.GroupVersionKind) ([]byte, error)
	// Around is what stands before and after the items of a list, of which there are
	// so many that take so many bytes, with their separators. Only who keeps objects
	// needs the size.
	Around(l *List, count, size int) (head, tail []byte, err error)
	// AppendItem appends an object as an item.
	AppendItem(dst []byte, o Object) ([]byte, error)
	// Event is an event of a watch about an object, or about what Document gave, which
	// is [Encoded]. What is made of an object that is shared is made in scratch.
	Event(scratch *[]byte, event string, o Object, kind schema.GroupVersionKind) (Frame, error)
}

// Encoded is what [Codec.Document] gave.
type Encoded struct{ Text }

// Frame is an event of a watch: Head, Body and Tail, one after the other. Body is shared
// by all who are sent it, and must not be changed; Head holds until the next is made.
type Frame struct {
	Head, Body []byte
	Tail       string
}

// Size is how many bytes there are.
func (f Frame) Size() int { return len(f.Head) + len(f.Body) + len(f.Tail) }

// Keeper derives what is kept of objects.
type Keeper interface {
	// Keep makes an encoding of an object of a version, of which text is the whole, or
	// the base of the encoding.
	Keep(text []byte, in Encoding, version *crd.Version) ([]byte, error)
	// Object is what was kept, at a revision.
	Object(kept []byte, revision int64) (Object, error)
	// ItemSize is how many bytes AppendItem appends of an object.
	ItemSize(o Object) int
}

// List is a list but for its items.
type List struct {
	APIVersion, Kind string
	metav1.ListMeta
	// Null: without items it has null in their place where a text can say so.
	Null bool
	// Table, in place of all that, is a table in JSON without rows, which are the items.
	Table []byte
}
