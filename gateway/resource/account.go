package resource

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
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

// charge commits the write with what an account wants to change along with it.
func (w *Write) charge(ctx context.Context, account Account) error {
	at := int64(0)
	defer func() { account.Close(at) }()
	for range maxAttempts {
		postings, err := account.Charge(ctx)
		if err != nil {
			return err
		}
		if key := w.Resource.Key(w.Namespace, w.Name); posts(postings, key) {
			// It would be charged to the object that it creates, which exists.
			if err := w.mustNotExist(ctx, key); err != nil {
				return err
			}
			account.Changed(key, nil)
			continue
		}
		err = w.commitWith(ctx, postings)
		var first *overtaken
		if errors.As(err, &first) {
			account.Changed(first.key, first.by)
			continue
		}
		if err == nil && !w.Options.DryRun {
			at = w.revision
		}
		return err
	}
	return apierrors.NewConflict(w.GroupResource(), w.Name, errModified)
}

// posts tells that one of the postings is of a key.
func posts(all []Posting, key string) bool {
	return slices.ContainsFunc(all, func(p Posting) bool { return p.Key == key })
}

// account opens the account of a write that stores a new state.
func (w *Write) account(ctx context.Context) (Account, error) {
	if w.engine.accounts == nil || w.ending != stores || w.operation == admission.Delete || w.Namespace == "" {
		return nil, nil
	}
	return w.engine.accounts.Open(ctx, attributes{w})
}

// overtaken tells that nothing was written, as somebody else changed an object
// first that was to be changed along with the write.
type overtaken struct {
	key string
	by  *view.Entry // nil if it is gone
}

func (*overtaken) Error() string { return "somebody else was charged first" }

func overtakenBy(err error, postings []Posting) *overtaken {
	var s *storage.Error
	if !errors.As(err, &s) || s.Kind != storage.Changed {
		return nil
	}
	for _, p := range postings {
		if p.Key == s.Key && s.Current != nil {
			return &overtaken{p.Key, view.NewEntry(*s.Current)}
		} else if p.Key == s.Key {
			return &overtaken{key: p.Key}
		}
	}
	return nil
}
