package wire

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Magic begins every message that says what it is.
const Magic = "k8s\x00"

// MediaType names enveloped messages, in requests and replies.
const MediaType = "application/vnd.kubernetes.protobuf"

// The fields of the envelope and of what names its content.
const (
	envelopeType     = 1
	envelopeRaw      = 2
	envelopeEncoding = 3
	envelopeMedia    = 4

	typeAPIVersion = 1
	typeKind       = 2
)

// envelopeTail are the last two fields of an envelope, empty: the content is
// neither compressed nor of another media type.
const envelopeTail = "\x1a\x00\x22\x00"

// What is wrong with the beginning of a message, in the words of apimachinery.
var (
	errNoMagic   = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errNoData    = errors.New("empty data")
	errNoMessage = errors.New("empty body")
)

// Envelope is a message that says what it is, opened.
type Envelope struct {
	APIVersion, Kind string
	// Raw is the message, in the memory that was opened.
	Raw []byte
}

// Open reads an envelope. An error says that data is none, or that its content
// is no plain protobuf.
func Open(data []byte) (Envelope, error) {
	var e Envelope
	rest, ok := bytes.CutPrefix(data, []byte(Magic))
	switch {
	case len(data) == 0:
		return e, errNoData
	case !ok:
		return e, errNoMagic
	case len(rest) == 0:
		return e, errNoMessage
	}
	err := eachField(rest, func(f field) error {
		switch f.number {
		case envelopeType:
			return eachField(f.value, func(f field) error {
				switch f.number {
				case typeAPIVersion:
					e.APIVersion = string(f.value)
				case typeKind:
					e.Kind = string(f.value)
				}
				return nil
			})
		case envelopeRaw:
			e.Raw = f.value
		case envelopeEncoding:
			if len(f.value) > 0 {
				return fmt.Errorf("it has the content encoding %q", f.value)
			}
		case envelopeMedia:
			if len(f.value) > 0 && string(f.value) != MediaType {
				return fmt.Errorf("it has the content type %q", f.value)
			}
		}
		return nil
	})
	if err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// namesSize is how long an envelope's names are, each with its tag.
func namesSize(apiVersion, kind string) int {
	return protowire.SizeBytes(len(apiVersion)) + protowire.SizeBytes(len(kind)) + 2
}

// envelopeSize is how long the envelope of a message of size bytes is.
func envelopeSize(apiVersion, kind string, size int) int {
	return len(Magic) + 2 + protowire.SizeBytes(namesSize(apiVersion, kind)) + protowire.SizeBytes(size) + len(envelopeTail)
}

// appendOpening appends what comes before a message of size bytes.
func appendOpening(dst []byte, apiVersion, kind string, size int) []byte {
	dst = append(dst, Magic...)
	dst = protowire.AppendTag(dst, envelopeType, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(namesSize(apiVersion, kind)))
	dst = protowire.AppendTag(dst, typeAPIVersion, protowire.BytesType)
	dst = protowire.AppendString(dst, apiVersion)
	dst = protowire.AppendTag(dst, typeKind, protowire.BytesType)
	dst = protowire.AppendString(dst, kind)
	dst = protowire.AppendTag(dst, envelopeRaw, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// AppendEnvelope appends a message that says what it is.
func AppendEnvelope(dst []byte, apiVersion, kind string, message []byte) []byte {
	dst = appendOpening(dst, apiVersion, kind, len(message))
	return append(append(dst, message...), envelopeTail...)
}

// field is one field of a message. Its value is nil where it is no bytes.
type field struct {
	number protowire.Number
	value  []byte
	// start and end are where it is, with its tag.
	start, end int
}

// EachValue calls do for all fields of a message that hold bytes, texts or messages, in
// their order, until it fails. What is no message is an error.
func EachValue(message []byte, do func(number int, value []byte) error) error {
	return eachField(message, func(f field) error {
		if f.value == nil {
			return nil
		}
		return do(int(f.number), f.value)
	})
}

// eachField calls do for all fields of a message, in their order, until it
// fails.
func eachField(message []byte, do func(field) error) error {
	for at := 0; at < len(message); {
		number, kind, tag := protowire.ConsumeTag(message[at:])
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[at+tag:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		f := field{number: number, start: at, end: at + tag + size}
		if kind == protowire.BytesType {
			f.value, _ = protowire.ConsumeBytes(message[at+tag:])
		}
		if err := do(f); err != nil {
			return err
		}
		at = f.end
	}
	return nil
}
