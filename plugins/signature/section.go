// Package signature owns who vouches for a module: signatures in a section of its own
// at the end of the file, what they say, and the keys that make and verify them.
//
// It must not know which keys are trusted, nor for what.
package signature

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// SectionName is the name of the custom section that holds signatures. It is the
// last section of a module, and what is signed are the bytes before it.
const SectionName = "wasmgate.signature"

// The bounds of a section. They are far above what signatures take.
const (
	maxSection    = 64 << 10
	maxSignatures = 16
	// MaxBundle bounds a bundle, and MaxBundles how many there are; each costs
	// milliseconds to verify.
	MaxBundle  = 32 << 10
	MaxBundles = 4
)

// Signature is a text and who signed it, or a bundle.
type Signature struct {
	// Payload is JSON, see [Payload].
	Payload []byte `json:"payload,omitempty"`
	// Signature is over the payload's bytes.
	Signature []byte `json:"signature,omitempty"`
	// Bundle is JSON, a bundle of Sigstore: over the payload's bytes, or without a
	// payload of the module itself. There is no Signature then.
	Bundle string `json:"bundle,omitempty"`
}

// Reason classifies an [Error]; it is fit for the reason of a status condition.
type Reason string

// The reasons for which a module is not signed as it should be.
const (
	// Unsigned: it has no signature.
	Unsigned Reason = "Unsigned"
	// SectionMalformed: its section cannot be read, is not the last, or not the only one.
	SectionMalformed Reason = "SignatureMalformed"
	// Untrusted: none of the keys made any of its signatures.
	Untrusted Reason = "SignatureUntrusted"
	// PayloadMalformed: what was signed is not what a signature of a module says.
	PayloadMalformed Reason = "SignaturePayloadInvalid"
	// OfOtherContent: a trusted key signed other bytes.
	OfOtherContent Reason = "SignatureOfOtherContent"
	// ForOtherModule: a trusted key signed these bytes for a module of another name.
	ForOtherModule Reason = "SignatureForOtherModule"
	// BundleMalformed: a bundle cannot be read, or lacks what it has to have.
	BundleMalformed Reason = "SignatureBundleInvalid"
	// OfOtherIdentity: a bundle is by somebody else than the identity that is trusted.
	OfOtherIdentity Reason = "SignatureOfOtherIdentity"
	// NoProvenance: it is signed, and where it comes from is not stated as demanded.
	NoProvenance Reason = "ProvenanceMissing"
	// OtherProvenance: it was made by a builder that is not trusted.
	OtherProvenance Reason = "ProvenanceMismatch"
	// NoStatement: it is signed, and something else that is demanded is not stated.
	NoStatement Reason = "StatementMissing"
	// OtherStatement: that is stated, and does not meet the condition.
	OtherStatement Reason = "StatementMismatch"
)

// Error is why a module is not signed as it should be.
type Error struct {
	Reason Reason
	Detail string
}

// Error is the reason and the detail.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Detail }

func malformed(format string, args ...any) error {
	return &Error{SectionMalformed, fmt.Sprintf(format, args...)}
}

// preamble is what every module begins with.
var preamble = []byte("\x00asm\x01\x00\x00\x00")

// Split divides a module into what is signed and its signatures, none if it has no
// section of them. The error is an *[Error]; signed is then as much as would be signed
// if the first section of signatures were the last.
func Split(module []byte) (signed []byte, all []Signature, err error) {
	if !bytes.HasPrefix(module, preamble) {
		return module, nil, malformed("it is no WebAssembly module")
	}
	for at := len(preamble); at < len(module); {
		id := module[at]
		section, next, ok := sized(module, at+1)
		if !ok {
			return module, nil, malformed("the section at byte %d is longer than the module", at)
		}
		name, from, _ := sized(section, 0)
		if id != 0 || string(name) != SectionName {
			at = next
			continue
		}
		signed = module[:at:at]
		if next != len(module) {
			return signed, nil, malformed("its section %s is not the last one", SectionName)
		}
		all, err = read(section[from:])
		return signed, all, err
	}
	return module, nil, nil
}

// sized reads a length and as many bytes, and tells where they end.
func sized(b []byte, at int) (content []byte, end int, ok bool) {
	n, size := binary.Uvarint(b[at:])
	if size <= 0 || size > 5 || n > uint64(len(b)-at-size) {
		return nil, 0, false
	}
	from := at + size
	return b[from : from+int(n)], from + int(n), true
}

// read reads what a section holds.
func read(section []byte) (all []Signature, err error) {
	if len(section) > maxSection {
		return nil, malformed("its section %s has %d bytes, more than %d", SectionName, len(section), maxSection)
	}
	d := json.NewDecoder(bytes.NewReader(section))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, malformed("its section %s: %v", SectionName, err)
	}
	if d.InputOffset() != int64(len(section)) {
		return nil, malformed("its section %s has more than a list of signatures", SectionName)
	}
	if len(all) == 0 || len(all) > maxSignatures {
		return nil, malformed("its section %s has %d signatures, and not 1 to %d", SectionName, len(all), maxSignatures)
	}
	if err := checkBundles(all); err != nil {
		return nil, err
	}
	return all, nil
}

func checkBundles(all []Signature) error {
	n := 0
	for _, s := range all {
		if s.Bundle == "" {
			continue
		}
		if n++; n > MaxBundles || len(s.Bundle) > MaxBundle {
			return malformed("its section %s has more than %d bundles, or one of more than %d bytes", SectionName, MaxBundles, MaxBundle)
		}
	}
	return nil
}

// Join is the inverse of [Split].
func Join(signed []byte, all []Signature) ([]byte, error) {
	content, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	if len(content) > maxSection || len(all) > maxSignatures {
		return nil, fmt.Errorf("%d signatures of %d bytes are more than a module carries (%d, %d bytes)", len(all), len(content), maxSignatures, maxSection)
	}
	if err := checkBundles(all); err != nil {
		return nil, err
	}
	section := binary.AppendUvarint(nil, uint64(len(SectionName)))
	section = slices.Concat(section, []byte(SectionName), content)
	out := binary.AppendUvarint(append(slices.Clip(signed), 0), uint64(len(section)))
	return append(out, section...), nil
}
