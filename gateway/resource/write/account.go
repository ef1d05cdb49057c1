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

// charge commits a write with what an account wants to change along with it.
func charge(ctx context.Context, account resource.Account, e *Writer, r *request, p *progress, claims claimed) (revision int64, err error) {
	at, key := int64(0), r.Resource.Key(r.Namespace, r.Name)
	defer func() { account.Close(at) }()
	for range maxAttempts {
		postings, err := account.Charge(ctx)
		if err != nil {
			return 0, err
		}
		if posts(postings, key) {
			// It would be charged to the object that it creates, which exists.
			if err := isFree(ctx, e, r, key); err != nil {
				return 0, err
			}
			account.Changed(key, nil)
			continue
		}
		revision, err = commit(ctx, e, r, p, claims, postings)
		var first *overtaken
		if errors.As(err, &first) {
			account.Changed(first.key, first.by)
			continue
		}
		if err == nil && !r.Options.DryRun {
			at = revision
		}
		return revision, err
	}
	return 0, apierrors.NewConflict(r.GroupResource(), r.Name, resource.ErrModified)
}

// posts tells that one of the postings is of a key.
func posts(all []resource.Posting, key string) bool {
	return slices.ContainsFunc(all, func(p resource.Posting) bool { return p.Key == key })
}

// isCharged tells of a write that it stores a new state, in a namespace.
func isCharged(r *request, p *progress) bool {
	return p.ending == stores && p.operation != admission.Delete && r.Namespace != ""
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
