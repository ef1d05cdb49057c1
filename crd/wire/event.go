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
	box := 1 + protowire.SizeBytes(len(object))
	size := 2 + protowire.SizeBytes(len(kind)) + protowire.SizeBytes(box)
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = protowire.AppendTag(dst, eventType, protowire.BytesType)
	dst = protowire.AppendString(dst, kind)
	dst = protowire.AppendTag(dst, eventObject, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(box))
	dst = protowire.AppendTag(dst, boxedRaw, protowire.BytesType)
	return protowire.AppendBytes(dst, object)
}
