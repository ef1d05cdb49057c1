package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wasmgate/wasmgate/storage"
)

// GetBlob returns the bytes with the digest, after checking that they are. A
// blob that is not there, or not completely, is a storage error of kind
// NotFound; one that is not what its digest says is ErrCorrupt.
func (b *Blobs) GetBlob(ctx context.Context, digest string) ([]byte, error) {
	k, err := b.find(ctx, digest)
	if err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, k.size))
	if err := k.write(ctx, data); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// OpenBlob finds the blob with the digest, and returns how many bytes it has and
// what writes them, with no more than two chunks in memory. write fails as GetBlob
// does, or as w does; bytes that are not what the digest says it does not write to
// the end.
func (b *Blobs) OpenBlob(ctx context.Context, digest string) (size int, write func(context.Context, io.Writer) error, err error) {
	k, err := b.find(ctx, digest)
	if err != nil {
		return 0, nil, err
	}
	return k.size, k.write, nil
}

var errUnreadable = errors.New("what is stored cannot be decrypted")

// kept is a blob whose manifest is there.
type kept struct {
	blobs       *Blobs
	digest, dir string
	size        int
	revision    int64 // of the manifest
}

func (b *Blobs) find(ctx context.Context, digest string) (*kept, error) {
	dir, err := b.dir(digest)
	if err != nil {
		return nil, err
	}
	kv, err := b.store.Get(ctx, manifestKey(dir))
	if err != nil {
		return nil, fmt.Errorf("blob: get %s: %w", digest, err)
	}
	if kv.Keeping == storage.Unreadable {
		return nil, fmt.Errorf("blob: get %s: %w", digest, errUnreadable)
	}
	var m manifest
	if err := json.Unmarshal(kv.Value, &m); err != nil || m.Size < 0 || m.Size > MaxSize {
		return nil, fmt.Errorf("%w: manifest of %s", ErrCorrupt, digest)
	}
	return &kept{blobs: b, digest: digest, dir: dir, size: m.Size, revision: kv.Revision}, nil
}

// write writes the bytes to w, the last chunk once all were compared with the digest.
func (k *kept) write(ctx context.Context, w io.Writer) error {
	sum, last := sha256.New(), []byte(nil)
	for i, left := 0, k.size; left > 0; i++ {
		chunk, err := k.chunk(ctx, i)
		if err != nil {
			return err
		}
		if len(chunk) == 0 || len(chunk) > left {
			return fmt.Errorf("%w: %s has a chunk %d of the wrong size", ErrCorrupt, k.digest, i)
		}
		if _, err := w.Write(last); err != nil {
			return err
		}
		_, _ = sum.Write(chunk) // never fails
		left -= len(chunk)
		last = chunk
	}
	if digestPrefix+hex.EncodeToString(sum.Sum(nil)) != k.digest {
		return fmt.Errorf("%w: %s has other bytes", ErrCorrupt, k.digest)
	}
	_, err := w.Write(last)
	return err
}

func (k *kept) chunk(ctx context.Context, i int) ([]byte, error) {
	kv, err := k.blobs.store.Get(ctx, chunkKey(k.dir, i))
	switch {
	case storage.KindOf(err) == storage.NotFound:
		return nil, fmt.Errorf("%w: %s lacks chunk %d", ErrCorrupt, k.digest, i)
	case err != nil:
		return nil, fmt.Errorf("blob: get %s: %w", k.digest, err)
	case kv.Keeping == storage.Unreadable: // not corrupt: it may become readable
		return nil, fmt.Errorf("blob: get %s: %w", k.digest, errUnreadable)
	}
	return kv.Value, nil
}
