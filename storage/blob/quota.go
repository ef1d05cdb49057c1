package blob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/storage"
)

// ErrQuota: there is no room for the bytes beside the blobs that there are.
var ErrQuota = errors.New("blob: the quota is used up")

// Limit makes PutBlob refuse what brings the sum of all blobs above most bytes,
// with [ErrQuota]; 0 means that there is no limit. Writers at the same time may
// exceed it together. It is called before the blobs are used, and returns them.
func (b *Blobs) Limit(most int64) *Blobs {
	b.most = most
	return b
}

// Used is the sum of all blobs that are complete, in bytes. It reads a chunk of
// each.
func (b *Blobs) Used(ctx context.Context) (int64, error) {
	all, err := b.list(ctx)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, s := range all {
		sum += s.size
	}
	return sum, nil
}

// makeRoom fails when there is no room for size more bytes.
func (b *Blobs) makeRoom(ctx context.Context, size int) error {
	if b.most <= 0 {
		return nil
	}
	used, err := b.Used(ctx)
	if err != nil {
		return err
	}
	if used+int64(size) > b.most {
		return fmt.Errorf("%w: %d of %d bytes are in use, and these are %d", ErrQuota, used, b.most, size)
	}
	return nil
}

// sizeOf is what a manifest says; one that cannot be read says nothing.
func sizeOf(kv storage.KV) int64 {
	var m manifest
	if err := json.Unmarshal(kv.Value, &m); err != nil || m.Size < 0 || m.Size > MaxSize {
		return 0
	}
	return int64(m.Size)
}
