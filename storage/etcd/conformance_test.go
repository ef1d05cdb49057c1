package etcd

import (
	"context"
	"testing"

	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func TestConformance(t *testing.T) {
	e := start(t, t.TempDir())
	for name, s := range map[string]*Store{"embedded": startAlone(t).Store(), "embedded with a listener": e.Store(), "client": connect(t, e)} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, storagetest.Options{
				Store: s,
				Compact: func(ctx context.Context, rev int64) error {
					_, err := s.client.Compact(ctx, rev)
					return err
				},
			})
		})
	}
}
