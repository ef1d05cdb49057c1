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
	"errors"
	"fmt"
	"io"
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
	most  int64 // see Limit
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

// PutBlob keeps data and returns its digest. When it returns without an error
// the blob is complete and readable, and all its keys, or at least its manifest,
// were written since the call began: a [Collector] leaves it alone for a while.
func (b *Blobs) PutBlob(ctx context.Context, data []byte) (digest string, err error) {
	if len(data) > MaxSize {
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), MaxSize)
	}
	digest = Digest(data)
	dir, err := b.dir(digest)
	if err != nil {
		return "", err
	}
	if k, err := b.find(ctx, digest); err == nil && k.write(ctx, io.Discard) == nil && b.touch(ctx, dir, len(data), k.revision) == nil {
		return digest, nil
	}
	if err := b.makeRoom(ctx, len(data)); err != nil {
		return "", err
	}
	for i := 0; i*ChunkSize < len(data); i++ {
		chunk := data[i*ChunkSize : min((i+1)*ChunkSize, len(data))]
		if err := b.put(ctx, chunkKey(dir, i), chunk); err != nil {
			return "", fmt.Errorf("blob: put %s: %w", digest, err)
		}
	}
	if err := b.put(ctx, manifestKey(dir), manifestOf(len(data))); err != nil {
		return "", fmt.Errorf("blob: put %s: %w", digest, err)
	}
	return digest, nil
}

// touch writes the manifest of a complete blob again, if it is still the one
// of that revision.
func (b *Blobs) touch(ctx context.Context, dir string, size int, revision int64) error {
	_, err := b.store.Update(ctx, manifestKey(dir), manifestOf(size), revision, 0)
	return err
}

func manifestOf(size int) []byte { return fmt.Appendf(nil, `{"size":%d}`, size) }

// put writes a key whatever was there, also what it holds already: a key that
// was written may not be collected as what was there before.
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
		default:
			_, err = b.store.Update(ctx, key, value, e.Current.Revision, 0)
		}
	}
	return err
}
