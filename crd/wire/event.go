package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// StreamMediaType names a stream of frames, as [AppendFrame] makes them.
const StreamMediaType = MediaType + ";stream=watch"

// The fields of an event of a watch, and of the box its object is in.
const (
	eventType   = 1
	eventObject = 2
	boxedRaw    = 1
)

// AppendFrame appends one event of a watch, as it is sent: its length in four
// bytes, and the event, whose object is enveloped.
func AppendFrame(dst []byte, kind string, object []byte) []byte {
	return append(appendFrameHead(dst, kind, len(object)), object...)
}

// appendFrameHead appends what comes before an object of size bytes.
func appendFrameHead(dst []byte, kind string, object int) []byte {
	box := 1 + protowire.SizeBytes(object)
	size := 2 + protowire.SizeBytes(len(kind)) + protowire.SizeBytes(box)
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = protowire.AppendTag(dst, eventType, protowire.BytesType)
	dst = protowire.AppendString(dst, kind)
	dst = protowire.AppendTag(dst, eventObject, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(box))
	dst = protowire.AppendTag(dst, boxedRaw, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(object))
}

// Frame is an event of a watch about the message, as [AppendFrame] makes it, in three
// parts: head, which is appended to dst, the memory that m was made of, and tail.
func (m Message) Frame(dst []byte, event, apiVersion, kind string) (head, body []byte, tail string) {
	size := m.Size()
	head = appendFrameHead(dst, event, envelopeSize(apiVersion, kind, size))
	head = m.appendToRevision(appendOpening(head, apiVersion, kind, size))
	return head, m.raw[m.resume:], envelopeTail
}
