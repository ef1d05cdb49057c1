package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wasmgate/wasmgate/storage"
)

// failed turns an error of etcd's client into a *storage.Error; nil stays nil.
func failed(ctx context.Context, err error, key string, rev int64) error {
	if err == nil {
		return nil
	}
	// The client may report a caller's own end as a status of the transport.
	if ctxErr := ctx.Err(); ctxErr != nil && !errors.Is(err, ctxErr) {
		err = errors.Join(ctxErr, err)
	}
	return &storage.Error{Kind: kindOf(err), Key: key, Revision: rev, Cause: err}
}

func kindOf(err error) storage.Kind {
	switch {
	case errors.Is(err, rpctypes.ErrCompacted), errors.Is(err, mvcc.ErrCompacted):
		return storage.Compacted
	case errors.Is(err, rpctypes.ErrFutureRev), errors.Is(err, mvcc.ErrFutureRev):
		return storage.FutureRevision
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return storage.TooLarge
	case isMessageLimit(err):
		return storage.TooLarge
	case errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace):
		return storage.Full
	case errors.Is(rpctypes.Error(err), rpctypes.ErrTooManyOps):
		return storage.TooMany
	}
	return storage.Unavailable
}

// isMessageLimit reports whether gRPC refused a message, either way, for its
// size. Other exhausted resources are etcd's, which have errors of their own.
func isMessageLimit(err error) bool {
	var ofEtcd rpctypes.EtcdError
	return status.Code(err) == codes.ResourceExhausted && !errors.As(rpctypes.Error(err), &ofEtcd)
}
