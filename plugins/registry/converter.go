package registry

import (
	"context"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/plugins"
)

// Converter converts with the module that has that name at the time of each
// call, so it can be made before the module exists. Its replies are checked,
// and large batches are spread over the module's instances. One call has objects of one
// namespace: within a call a module can tell of one object in another.
func (r *Registry) Converter(name string) *conversion.Bulk {
	return conversion.Batched(conversion.Lean(&converter{r, name}, r.told(name)), conversion.Batch{Parallel: r.cfg.Instances, Apart: true}).
		Named(func() conversion.By { return r.by(name) })
}

// by is a module and the content of it that serves.
func (r *Registry) by(name string) conversion.By {
	by := conversion.By{Module: plugins.NameOf(name)}
	if rev := r.active(name); rev != nil {
		by.Digest = rev.Digest
	}
	return by
}

// told is how messages speak of a module, and where to look further.
func (r *Registry) told(name string) conversion.Told {
	t := conversion.Told{Converter: fmt.Sprintf("conversion module %q", plugins.NameOf(name))}
	if r.cfg.Hint != nil {
		t.Hint = r.cfg.Hint(name)
	}
	return t
}

// converter sends what a webhook would be sent.
type converter struct {
	registry *Registry
	name     string
}

// Epoch is that of the active revision; 0 means that there is no module.
func (c *converter) Epoch() uint64 {
	if rev := c.registry.active(c.name); rev != nil {
		return rev.epoch
	}
	return 0
}

// ReadsReplies implements [conversion.Reader].
func (*converter) ReadsReplies() {}

// requests keeps the memory of requests, which are copied into the guest.
var requests = sync.Pool{New: func() any { return new([]byte) }}

func (c *converter) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	buffer := requests.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= 4<<20 {
			requests.Put(buffer)
		}
	}()
	if size := review.RequestSize(objects); cap(*buffer) < size {
		*buffer = make([]byte, 0, size)
	}
	uid := requestUID(objects)
	*buffer = review.AppendRequest((*buffer)[:0], review.V1, uid, desired, objects)
	var converted [][]byte
	_, err := c.registry.call(ctx, c.name, plugins.Convert, *buffer, len(objects), nil, func(reply []byte) (err error) {
		if len(reply) == 0 {
			return &plugins.CallError{Module: c.name, Hook: plugins.Convert, Kind: plugins.BadReply, Reason: "the reply is empty"}
		}
		converted, err = review.ParseResponse(reply, review.V1, uid)
		return err
	})
	return converted, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// requestUID is made of the objects, not of random numbers: the same request
// is the same bytes, so that a conversion can be repeated exactly. It still
// tells the reply to one request from that to another.
func requestUID(objects [][]byte) string {
	var sum, size uint32
	for _, o := range objects {
		sum = crc32.Update(sum, castagnoli, o)
		size += uint32(len(o))
	}
	id := make([]byte, 0, len("00000000-0000-4000-8000-000000000000"))
	id = append(appendHex(id, sum, 8), "-0000-4000-8000-"...)
	id = appendHex(appendHex(id, uint32(len(objects)), 4), size, 8)
	return string(id)
}

// appendHex appends the last digits of n.
func appendHex(dst []byte, n uint32, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[n>>(4*i)&0xf])
	}
	return dst
}
