package resource

import (
	"context"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// Accounts keep what objects use of something that they share, in other objects,
// which change in the transaction of the write: so it is exact, however many
// gateways write.
type Accounts interface {
	// Open returns what a write is charged to, nil if nobody keeps an account of
	// it, which costs next to nothing. It may wait for other writes.
	Open(ctx context.Context, a admission.Attributes) (Account, error)
}

// Account is what one write is charged to. It is used by one goroutine.
type Account interface {
	// Charge returns the postings that have to be made along with the write. It
	// refuses the write with an error that is the client's, as it is.
	Charge(ctx context.Context) ([]Posting, error)
	// Changed tells that nothing was written, as somebody else changed an object
	// first, and to what; nil if it is gone. Charge is called again.
	Changed(key string, now *view.Entry)
	// Close tells that the write has ended: at revision with the postings that
	// Charge returned last, or without any if that is 0.
	Close(revision int64)
}

// Posting is a new state of an object that another write changes.
type Posting struct {
	// Key is where the object is stored, Stored its new bytes.
	Key    string
	Stored []byte
	// Revision is that of the state that it was made of.
	Revision int64
}
