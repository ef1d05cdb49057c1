package write

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// charge commits the write with what an account wants to change along with it.
func (w *Write) charge(ctx context.Context, account resource.Account) error {
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
	return apierrors.NewConflict(w.GroupResource(), w.Name, resource.ErrModified)
}

// posts tells that one of the postings is of a key.
func posts(all []resource.Posting, key string) bool {
	return slices.ContainsFunc(all, func(p resource.Posting) bool { return p.Key == key })
}

// account opens the account of a write that stores a new state.
func (w *Write) account(ctx context.Context) (resource.Account, error) {
	if w.writer.accounts == nil || w.ending != stores || w.operation == admission.Delete || w.Namespace == "" {
		return nil, nil
	}
	return w.writer.accounts.Open(ctx, attributes{w})
}

// overtaken tells that nothing was written, as somebody else changed an object
// first that was to be changed along with the write.
type overtaken struct {
	key string
	by  *view.Entry // nil if it is gone
}

func (*overtaken) Error() string { return "somebody else was charged first" }

func overtakenBy(err error, postings []resource.Posting) *overtaken {
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
