package view

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// Stored reads what the store holds of the objects of a kind, at whatever version and in
// whatever form that is, and says how it is written. It never converts.
type Stored struct{ Def *crd.Definition }

// restore decodes an entry, makes it well-formed by the schema of the version
// it is stored at, and returns it with its resourceVersion and that version.
func (r Stored) restore(e *Entry) ([]byte, string, error) {
	tree, version, err := r.restoreTree(e)
	if err != nil {
		return nil, "", err
	}
	object.SetRevision(tree, e.Revision)
	data, err := object.Encode(tree)
	return data, version, err
}

// Readable is the status error of an entry whose bytes cannot be read; nil of
// one that can be.
func (r Stored) Readable(e *Entry) error {
	_, _, err := r.restoreTree(e)
	return err
}

// restoreTree is restore before the resourceVersion is set.
func (r Stored) restoreTree(e *Entry) (map[string]any, string, error) {
	tree, err := r.Decode(e)
	if err != nil {
		return nil, "", err
	}
	return r.wellFormed(tree, e)
}

// wellFormed is restoreTree of what an entry was decoded to.
func (r Stored) wellFormed(tree map[string]any, e *Entry) (map[string]any, string, error) {
	apiVersion, _ := tree["apiVersion"].(string)
	if v := r.Def.At(apiVersion); v != nil {
		if err := v.Shape.FromStorage(tree); err != nil {
			return nil, "", r.Unreadable(e, err)
		}
		return tree, v.Name, nil
	}
	group, version, ok := strings.Cut(apiVersion, "/") // a version that is gone
	if !ok {
		group, version = "", apiVersion
	}
	if group != r.Def.Group {
		return nil, "", r.Unreadable(e, fmt.Errorf("stored object is of %q", apiVersion))
	}
	return tree, version, nil
}

// Unreadable is the status error of an entry whose bytes err speaks of. It is an
// [UnreadableError].
func (r Stored) Unreadable(e *Entry, err error) error {
	if e.Sealed() {
		err = errSealed
	}
	return &UnreadableError{apierrors.NewInternalError(fmt.Errorf("stored object of %s at revision %d cannot be read: %w", r.Def.GroupResource(), e.Revision, err))}
}

// UnreadableError tells that what is stored of an object cannot be read.
type UnreadableError struct{ *apierrors.StatusError }

// StoredAt tells, without decoding, whether an entry is stored at a version.
// It may say no of one that is.
func (r Stored) StoredAt(e *Entry, version string) bool {
	if !e.storedJSON() {
		return false
	}
	s, ok := object.String(object.Field(e.bytes(), "apiVersion"))
	return ok && s == r.Def.APIVersion(version)
}

// storedMessage is what is stored, if that is a message at a version.
func (r Stored) storedMessage(e *Entry, version string) []byte {
	if e.storedJSON() {
		return nil
	}
	in, err := wire.Open(e.bytes())
	if err != nil || in.APIVersion != r.Def.APIVersion(version) || in.Kind != r.Def.Kind {
		return nil
	}
	return in.Raw
}

// readMetadata takes the metadata out of the stored bytes, at whatever version
// they are: nothing is converted.
func (r Stored) readMetadata(e *Entry) ([]byte, error) {
	if e.storedJSON() {
		return r.metadataIn(e, e.bytes())
	}
	tree, _, err := r.restoreTree(e)
	if err != nil {
		return nil, err
	}
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		return nil, r.Unreadable(e, errNoMetadata)
	}
	return object.Encode(meta)
}

func (r Stored) metadataIn(e *Entry, data []byte) ([]byte, error) {
	s, end, err := object.Metadata(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	return data[s:end], nil
}

var errSealed = errors.New("it is encrypted, and by no provider and key of --encryption-provider-config that decrypt it")

var errNoMetadata = errors.New("it has no metadata")

// encoded is a tree as it is stored, of which text is the canonical JSON where it is
// known; it may share parts with like.
func (r Stored) encoded(tree map[string]any, text []byte, like object.Text) ([]byte, error) {
	c, ok := r.Def.Codec.(crd.TextCodec)
	switch {
	case !ok:
	case text == nil && like.Tree != nil && object.Large(like.Data):
		var err error
		if text, err = object.EncodeLike(tree, like); err != nil {
			return nil, err
		}
		fallthrough
	case text != nil:
		return c.EncodeText(text), nil
	}
	return r.Def.Codec.Encode(tree)
}

// dropRevision takes away what is not stored.
func dropRevision(tree map[string]any) {
	if meta, ok := tree["metadata"].(map[string]any); ok {
		delete(meta, "resourceVersion")
	}
}
