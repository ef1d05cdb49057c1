package read

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// listing is a list under way.
type listing struct {
	target    resource.Target
	selection *selection
	prefix    string // below the bucket: "ns/" or ""
	after     string // below the bucket
	limit     int64
	exact     int64 // the revision to list at; 0 = the settled state
	paging    bool  // a continue token was given
	result    resource.List
	last      string      // the key of the last entry taken
	waiting   []candidate // not decided about
}

// List returns the objects that options select. The table of the
// meaning of resourceVersion, resourceVersionMatch, limit and continue is that
// of the Kubernetes API concepts (rows RV-L1 to RV-L7). options were validated.
func (e *Reader) List(ctx context.Context, t resource.Target, o *internalversion.ListOptions) (*resource.List, error) {
	if r := e.reports[t.Resource.GroupResource()]; r != nil {
		return listReport(ctx, r, t, o)
	}
	l, err := newListing(t, o)
	if err != nil {
		return nil, err
	}
	atLeast := o.ResourceVersion
	if o.Continue != "" {
		atLeast = "" // unless it names a revision
	}
	if l.exact > 0 {
		return e.listExact(ctx, l)
	}
	if err := e.waitForRevision(ctx, t.Resource, atLeast); err != nil {
		return nil, err
	}
	if err := l.take(ctx, t.Resource.Bucket().Snapshot()); err != nil {
		return nil, err
	}
	return &l.result, nil
}

func newListing(t resource.Target, o *internalversion.ListOptions) (*listing, error) {
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	l := &listing{target: t, selection: sel, limit: o.Limit}
	l.result.Shards = sel.shardInfo()
	if t.Namespace != "" {
		l.prefix = t.Namespace + "/"
	}
	if o.Continue != "" {
		return l, l.resume(o)
	}
	rev, err := resource.ParseRevision(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || o.ResourceVersionMatch == "" && o.Limit > 0 {
		l.exact = rev
	}
	return l, nil
}

// resume reads the continue token.
func (l *listing) resume(o *internalversion.ListOptions) error {
	key, rev, err := apistorage.DecodeContinue(o.Continue, l.target.Resource.Root()+l.prefix)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	l.paging = true
	l.after = strings.TrimSuffix(strings.TrimPrefix(key, l.target.Resource.Root()), "\x00")
	l.exact = max(rev, 0)
	return nil
}

// take fills the page from a snapshot.
func (l *listing) take(ctx context.Context, s watchcache.Snapshot[*view.Entry]) error {
	l.result.Revision = s.Revision()
	if l.selection.empty() {
		return l.takeAll(s)
	}
	var err error
	var more bool
	l.selection.ascend(s, l.prefix, l.after, func(it watchcache.Item[*view.Entry]) bool {
		more, err = l.add(ctx, it.Key, it.Value)
		return err == nil && !more
	})
	if err == nil && !more {
		more, err = l.flush(ctx)
	}
	if err != nil {
		return err
	}
	return l.cut(more, -1)
}

// takeAll is take without a selection.
func (l *listing) takeAll(s watchcache.Snapshot[*view.Entry]) error {
	total := int64(s.CountAfter(l.prefix, l.after))
	n := total
	if l.limit > 0 {
		n = min(n, l.limit)
	}
	l.result.Entries = make([]*view.Entry, 0, n)
	s.Ascend(l.prefix, l.after, func(it watchcache.Item[*view.Entry]) bool {
		if int64(len(l.result.Entries)) == n {
			return false
		}
		l.result.Entries = append(l.result.Entries, it.Value)
		l.last = it.Key
		return true
	})
	return l.cut(n < total, total-n)
}

// deepBatch is how many objects are looked into at once.
const deepBatch = 500

// candidate is an entry that is selected if its fields are.
type candidate struct {
	key   string
	entry *view.Entry
}

// add takes an entry into the page if it is selected. It reports that the
// page is full and one more would belong to it. Where the object itself
// decides, entries wait until there are enough of them to be converted at once.
func (l *listing) add(ctx context.Context, key string, e *view.Entry) (full bool, err error) {
	if ok, err := l.selection.shallow(key, e); err != nil || !ok {
		return false, err
	}
	if !l.selection.whole() {
		return l.accept(key, e), nil
	}
	l.waiting = append(l.waiting, candidate{key, e})
	if len(l.waiting) < deepBatch {
		return false, nil
	}
	return l.flush(ctx)
}

// flush decides about those that wait.
func (l *listing) flush(ctx context.Context) (full bool, err error) {
	entries := make([]*view.Entry, len(l.waiting))
	for i, c := range l.waiting {
		entries[i] = c.entry
	}
	why := map[int]error{}
	objects, err := l.selection.objects(ctx, entries, func(n int, err error) { why[n] = err })
	if err != nil {
		return false, err
	}
	for i, c := range l.waiting {
		if objects[i] == nil {
			l.result.Missing = append(l.result.Missing, resource.Missing{Key: c.key, Why: why[i]})
			continue
		}
		ok := !l.selection.deep
		if !ok {
			if ok, err = l.selection.matchFields(c.key, c.entry, objects[i].Bytes()); err != nil {
				return false, err
			}
		}
		if ok && l.accept(c.key, c.entry) {
			return true, nil
		}
	}
	l.waiting = l.waiting[:0]
	return false, nil
}

func (l *listing) accept(key string, e *view.Entry) (full bool) {
	if l.limit > 0 && int64(len(l.result.Entries)) >= l.limit {
		return true
	}
	l.result.Entries = append(l.result.Entries, e)
	l.last = key
	return false
}

// cut ends the page with a token when more follows.
func (l *listing) cut(more bool, rest int64) error {
	if !more {
		return nil
	}
	root := l.target.Resource.Root()
	token, err := apistorage.EncodeContinue(root+l.last+"\x00", root+l.prefix, l.result.Revision)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	l.result.Continue = token
	if l.selection.empty() && rest >= 0 {
		l.result.Remaining = &rest
	}
	return nil
}

// listExact lists at one past revision: from memory where it is still held,
// else from the store's history.
func (e *Reader) listExact(ctx context.Context, l *listing) (*resource.List, error) {
	if err := e.reach(ctx, l.exact); err != nil {
		return nil, err
	}
	if err := e.served.InForce(ctx, l.target.Resource); err != nil {
		return nil, err
	}
	if s, ok := l.target.Resource.Bucket().At(l.exact); ok && !e.noPast {
		if err := l.take(ctx, s); err != nil {
			return nil, err
		}
		return &l.result, nil
	}
	out, err := e.listHistory(ctx, l)
	if err == nil {
		for _, entry := range out.Entries {
			out.Past += entry.StoredSize()
		}
	}
	return out, err
}

// historyPage is how many keys are read from the store at once, at the most.
const historyPage = 1000

func (e *Reader) listHistory(ctx context.Context, l *listing) (*resource.List, error) {
	root := l.target.Resource.Root()
	l.result.Revision = l.exact
	after := ""
	if l.after != "" {
		after = root + l.after
	}
	first := historyPage
	if l.limit > 0 && l.limit < historyPage {
		first = int(l.limit) + 1 // the next one tells that there is more
	}
	pager := paging.New(e.store, paging.Options{
		Range: storage.Range{Prefix: root + l.prefix, After: after, Revision: l.exact, Count: true},
		First: first, Max: historyPage,
	})
	for {
		page, _, err := pager.Next(ctx)
		if err != nil {
			return nil, l.historyError(err)
		}
		for i, kv := range page.KVs {
			full, err := l.add(ctx, strings.TrimPrefix(kv.Key, root), view.NewEntry(kv))
			if err != nil {
				return nil, err
			}
			if full {
				return &l.result, l.cut(true, page.Count-int64(i))
			}
		}
		if !page.More {
			more, err := l.flush(ctx)
			if err != nil {
				return nil, err
			}
			return &l.result, l.cut(more, -1)
		}
	}
}

const (
	expiredList     = "The resourceVersion for the provided list is too old."
	expiredContinue = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."
	expiredRestart  = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)

func (l *listing) historyError(err error) error {
	if storage.KindOf(err) != storage.Compacted {
		return l.target.StoreError(err)
	}
	if !l.paging {
		return apierrors.NewResourceExpired(expiredList)
	}
	root := l.target.Resource.Root()
	token, terr := apistorage.EncodeContinue(root+l.after+"\x00", root+l.prefix, -1)
	if terr != nil {
		return apierrors.NewResourceExpired(expiredContinue)
	}
	st := apierrors.NewResourceExpired(expiredRestart)
	st.ErrStatus.Continue = token
	return st
}
