package wire

import (
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields that all objects and all lists have.
const (
	objectMetadata = 1
	listItems      = 2

	metadataRevision = 6
)

// ErrIrregular tells that a message is not laid out as Kubernetes writes them:
// its metadata is not the first field, or their fields are not in order. It may
// be an object all the same, and has to be decoded.
var ErrIrregular = errors.New("the message is not laid out as expected")

// Message is the protobuf of one object at a revision. It refers to the memory
// that it was made of, which must not be changed, and is itself immutable.
type Message struct {
	raw      []byte
	revision int64
	// The metadata are raw[start:end], and raw[cut:resume] of them is an old
	// resourceVersion, or the place where one belongs.
	start, cut, resume, end int32
}

// New makes a message of an object at a revision. Whatever resourceVersion raw
// has is not looked at. An error that is [ErrIrregular] says that raw may still
// be an object.
func New(raw []byte, revision int64) (Message, error) {
	const most = 1 << 30 // so that all sizes fit
	if len(raw) > most {
		return Message{}, fmt.Errorf("%w: it has %d bytes", ErrIrregular, len(raw))
	}
	number, kind, tag := protowire.ConsumeTag(raw)
	if tag < 0 || number != objectMetadata || kind != protowire.BytesType {
		return Message{}, ErrIrregular
	}
	metadata, size := protowire.ConsumeBytes(raw[tag:])
	if size < 0 {
		return Message{}, protowire.ParseError(size)
	}
	end := tag + size
	start := end - len(metadata)
	m := Message{raw: raw, revision: revision, start: int32(start), cut: int32(end), resume: int32(end), end: int32(end)}
	var last protowire.Number
	err := eachField(metadata, func(f field) error {
		switch {
		case f.number < last || f.number == last && f.number == metadataRevision:
			return ErrIrregular
		case last < metadataRevision && f.number >= metadataRevision:
			m.cut, m.resume = int32(start+f.start), int32(start+f.start)
			if f.number == metadataRevision {
				m.resume = int32(start + f.end)
			}
		}
		last = f.number
		return nil
	})
	return m, err
}

// Metadata is the message of an object that has nothing but the metadata of m,
// which is what a PartialObjectMetadata is.
func (m Message) Metadata() Message {
	m.raw = m.raw[:m.end]
	return m
}

// At is the same message at another revision.
func (m Message) At(revision int64) Message {
	m.revision = revision
	return m
}

// inner is the size of the metadata.
func (m Message) inner() int {
	return int(m.end-m.start) - int(m.resume-m.cut) + 1 + protowire.SizeBytes(digits(m.revision))
}

// Size is how many bytes AppendTo appends.
func (m Message) Size() int {
	return 1 + protowire.SizeBytes(m.inner()) + len(m.raw) - int(m.end)
}

// Bytes is the message, with its resourceVersion.
func (m Message) Bytes() []byte { return m.AppendTo(make([]byte, 0, m.Size())) }

// AppendTo appends the message, with its resourceVersion.
func (m Message) AppendTo(dst []byte) []byte {
	return append(m.appendToRevision(dst), m.raw[m.resume:]...)
}

// appendToRevision appends the message as far as its resourceVersion.
func (m Message) appendToRevision(dst []byte) []byte {
	dst = protowire.AppendTag(dst, objectMetadata, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(m.inner()))
	dst = append(dst, m.raw[m.start:m.cut]...)
	dst = protowire.AppendTag(dst, metadataRevision, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(digits(m.revision)))
	if m.revision > 0 {
		dst = strconv.AppendInt(dst, m.revision, 10)
	}
	return dst
}

// AppendEnvelope appends the message in an envelope.
func (m Message) AppendEnvelope(dst []byte, apiVersion, kind string) []byte {
	dst = appendOpening(dst, apiVersion, kind, m.Size())
	return append(m.AppendTo(dst), envelopeTail...)
}

// digits is how long a revision is in writing. Revision 0 is that of what is not
// stored: it is not said.
func digits(n int64) (d int) {
	for ; n > 0; n /= 10 {
		d++
	}
	return d
}
