// Package blob keeps byte strings that are too large for one key of a store,
// named by their digest.
//
// It owns the cutting into chunks, the order of writes that keeps a blob
// invisible until it is complete, and the check of what is read. It must not
// know what the bytes are. It is built on storage.Store alone; the store of
// modules is its caller.
//
// Under the root, a blob is the chunks <digest>/00000, <digest>/00001, ... and
// <digest>/manifest, which is written last and removed first. A blob is there
// exactly when its manifest is.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	// ChunkSize is the size of all chunks but the last; it is well below what
	// etcd refuses.
	ChunkSize = 512 << 10
	// MaxSize is the largest blob.
	MaxSize = 256 << 20

	digestPrefix = "sha256:"
	// maxTries bounds how often a write is repeated because another writer
	// was at the same key. Writers of one digest write the same bytes.
	maxTries = 10
)

var (
	// ErrDigest: the digest is malformed, or not that of the bytes.
	ErrDigest = errors.New("blob: digest does not match")
	// ErrTooLarge: the bytes are more than MaxSize.
	ErrTooLarge = errors.New("blob: too large")
	// ErrCorrupt: the manifest is there, but the chunks are not what it says.
	ErrCorrupt = errors.New("blob: corrupt")
)

// manifest is the value of a blob's manifest key.
type manifest struct {
	Size int `json:"size"`
}

// Blobs keeps blobs under one root of a store. It is safe for concurrent use.
type Blobs struct {
	store storage.Store
	root  string
}

// New returns the blobs under root, a key prefix that nothing else uses. It
// should lie outside the prefix that objects are under.
func New(store storage.Store, root string) *Blobs {
	return &Blobs{store: store, root: strings.TrimSuffix(root, "/") + "/"}
}

// Digest returns the name that data is kept under: "sha256:" and 64 hex
// digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// dir returns the prefix of a blob's keys.
func (b *Blobs) dir(digest string) (string, error) {
	sum, ok := strings.CutPrefix(digest, digestPrefix)
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || sum != strings.ToLower(sum) {
		return "", fmt.Errorf("%w: %q is not a sha256 digest", ErrDigest, digest)
	}
	return b.root + sum + "/", nil
}

func chunkKey(dir string, i int) string { return fmt.Sprintf("%s%05d", dir, i) }

func manifestKey(dir string) string { return dir + "manifest" }

// PutBlob keeps data, whose digest must be digest. When it returns nil the
// blob is complete and readable; a blob that is there already is left alone.
func (b *Blobs) PutBlob(ctx context.Context, digest string, data []byte) error {
	dir, err := b.dir(digest)
	switch {
	case err != nil:
		return err
	case len(data) > MaxSize:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), MaxSize)
	case Digest(data) != digest:
		return fmt.Errorf("%w: the bytes are not %s", ErrDigest, digest)
	}
	if _, err := b.GetBlob(ctx, digest); err == nil {
		return nil
	}
	for i := 0; i*ChunkSize < len(data); i++ {
		chunk := data[i*ChunkSize : min((i+1)*ChunkSize, len(data))]
		if err := b.put(ctx, chunkKey(dir, i), chunk); err != nil {
			return fmt.Errorf("blob: put %s: %w", digest, err)
		}
	}
	m, err := json.Marshal(manifest{Size: len(data)})
	if err != nil {
		return fmt.Errorf("blob: put %s: %w", digest, err)
	}
	if err := b.put(ctx, manifestKey(dir), m); err != nil {
		return fmt.Errorf("blob: put %s: %w", digest, err)
	}
	return nil
}

// put writes a key whatever was there.
func (b *Blobs) put(ctx context.Context, key string, value []byte) error {
	_, err := b.store.Create(ctx, key, value, 0)
	for range maxTries {
		var e *storage.Error
		if !errors.As(err, &e) {
			return err
		}
		switch {
		case e.Kind == storage.NotFound: // removed since
			_, err = b.store.Create(ctx, key, value, 0)
		case e.Current == nil:
			return err
		case string(e.Current.Value) == string(value):
			return nil
		default:
			_, err = b.store.Update(ctx, key, value, e.Current.Revision, 0)
		}
	}
	return err
}

// GetBlob returns the bytes with the digest, after checking that they are. A
// blob that is not there, or not completely, is a storage error of kind
// NotFound; one that is not what its digest says is ErrCorrupt.
func (b *Blobs) GetBlob(ctx context.Context, digest string) ([]byte, error) {
	dir, err := b.dir(digest)
	if err != nil {
		return nil, err
	}
	kv, err := b.store.Get(ctx, manifestKey(dir))
	if err != nil {
		return nil, fmt.Errorf("blob: get %s: %w", digest, err)
	}
	var m manifest
	if err := json.Unmarshal(kv.Value, &m); err != nil || m.Size < 0 || m.Size > MaxSize {
		return nil, fmt.Errorf("%w: manifest of %s", ErrCorrupt, digest)
	}
	data := make([]byte, 0, m.Size)
	for i := 0; len(data) < m.Size; i++ {
		kv, err := b.store.Get(ctx, chunkKey(dir, i))
		if storage.KindOf(err) == storage.NotFound {
			return nil, fmt.Errorf("%w: %s lacks chunk %d", ErrCorrupt, digest, i)
		}
		if err != nil {
			return nil, fmt.Errorf("blob: get %s: %w", digest, err)
		}
		if len(kv.Value) == 0 || len(data)+len(kv.Value) > m.Size {
			return nil, fmt.Errorf("%w: %s has a chunk %d of the wrong size", ErrCorrupt, digest, i)
		}
		data = append(data, kv.Value...)
	}
	if Digest(data) != digest {
		return nil, fmt.Errorf("%w: %s has other bytes", ErrCorrupt, digest)
	}
	return data, nil
}

// DeleteBlob removes the blob and what is left of an incomplete one. It is no
// error if there is none.
func (b *Blobs) DeleteBlob(ctx context.Context, digest string) error {
	dir, err := b.dir(digest)
	if err != nil {
		return err
	}
	if err := b.remove(ctx, manifestKey(dir)); err != nil {
		return fmt.Errorf("blob: delete %s: %w", digest, err)
	}
	for after := ""; ; {
		// One at a time: the values come along.
		page, err := b.store.Range(ctx, storage.Range{Prefix: dir, After: after, Limit: 1})
		if err != nil {
			return fmt.Errorf("blob: delete %s: %w", digest, err)
		}
		if len(page.KVs) == 0 {
			return nil
		}
		after = page.KVs[0].Key
		if err := b.remove(ctx, after); err != nil {
			return fmt.Errorf("blob: delete %s: %w", digest, err)
		}
	}
}

// remove deletes a key whatever it holds.
func (b *Blobs) remove(ctx context.Context, key string) error {
	var err error
	for range maxTries {
		var kv storage.KV
		if kv, err = b.store.Get(ctx, key); err == nil {
			_, err = b.store.Delete(ctx, key, kv.Revision)
		}
		switch storage.KindOf(err) {
		case storage.NotFound:
			return nil
		case storage.Conflict:
			continue
		}
		return err
	}
	return err
}
