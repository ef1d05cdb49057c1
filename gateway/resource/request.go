package resource

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// Target is what a request is about: a resource at a version, and in it a
// namespace and a name as far as the path gives them.
type Target struct {
	Resource    *catalog.Resource
	Version     *crd.Version
	Namespace   string
	Name        string
	Subresource string
	// Whole: of a collection, the objects are wanted as they are at Version, and not
	// only their metadata.
	Whole bool
}

// GroupResource is the resource as the request names it: some kinds can be had by
// several groups.
func (t Target) GroupResource() schema.GroupResource {
	if t.Version == nil {
		return t.Resource.GroupResource()
	}
	return t.Resource.Def.GVR(t.Version.Name).GroupResource()
}

// GVK is the kind of the request's objects.
func (t Target) GVK() schema.GroupVersionKind { return t.Resource.Def.GVK(t.Version.Name) }

// WriteOptions are what all writes have in common.
type WriteOptions struct {
	// Caller is who writes.
	Caller Caller
	// NoReply: nobody reads what was written, so it need not be made.
	NoReply bool
	// DryRun does everything but the commit.
	DryRun bool
	// FieldValidation is Ignore, Warn (also "") or Strict.
	FieldValidation string
	// Problems are duplicate fields that were found while the body was made
	// JSON; they are treated as those that the JSON has.
	Problems []string
	// Warn receives the warnings for the client; nil drops them.
	Warn func(text string)
	// Waiting is told how long webhooks took; nil is not.
	Waiting interface{ Waited(time.Duration) }
	// Room is asked, before anything is written, for the memory that the reply takes; its
	// error is the client's. Nil has any.
	Room Room
	// Annotate receives what is noteworthy for who audits the write; nil drops it.
	Annotate func(key, value string)
	// AnnotatesBodies: what tells of the contents of objects is wanted, too.
	AnnotatesBodies bool
	// Decoded receives what a body says that is neither JSON nor was made it, for who
	// audits the write, who must not change it; nil drops it.
	Decoded func(object any)
	// MayCreate refuses, with the client's error, that a write which may
	// create an object does so; nil allows it. It is not asked about creations
	// as such, which were authorized before.
	MayCreate func(ctx context.Context, name string) error
}

// Room is where memory for replies comes from.
type Room interface {
	// Room takes n bytes until the reply was sent, all in all.
	Room(ctx context.Context, n int) error
}

// AddWarning warns the client, if it wants to know.
func (o WriteOptions) AddWarning(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// Shared are the options for several writes at a time, of one request. No reply of theirs
// is sent.
func (o WriteOptions) Shared() WriteOptions {
	var one sync.Mutex
	o.Room = nil
	if warn := o.Warn; warn != nil {
		o.Warn = func(text string) {
			one.Lock()
			defer one.Unlock()
			warn(text)
		}
	}
	if o.Waiting != nil {
		o.Waiting = &together{of: o.Waiting}
	}
	if annotate := o.Annotate; annotate != nil {
		o.Annotate = func(key, value string) {
			one.Lock()
			defer one.Unlock()
			annotate(key, value)
		}
	}
	return o
}

// together is a request that waits for several at a time, and no longer than it is waiting.
type together struct {
	of   interface{ Waited(time.Duration) }
	mu   sync.Mutex
	last time.Time // until when it has waited
}

// Waited is told of a wait that ends now.
func (t *together) Waited(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if since := now.Sub(t.last); since < d {
		d = since
	}
	t.last = now
	t.of.Waited(d)
}

// AddAnnotation tells who audits the write what is noteworthy. A key that is none, of two
// parts, is dropped, as kube-apiserver does it.
func (o WriteOptions) AddAnnotation(key, value string) {
	prefix, name, _ := strings.Cut(key, "/")
	if o.Annotate != nil && len(validation.IsDNS1123Subdomain(prefix)) == 0 && !strings.Contains(name, "/") && len(validation.IsQualifiedName(name)) == 0 {
		o.Annotate(key, value)
	}
}

// NoteDecoded tells who audits the write what was read from a body, if that is kept.
func (o WriteOptions) NoteDecoded(object any) {
	if o.Decoded != nil {
		o.Decoded(object)
	}
}

// Written is the outcome of a write.
type Written struct {
	// Object is the object in the request's version; nil for one that a
	// deletion removed. The bytes are shared and must not be changed.
	Object []byte
	// Created: the object did not exist before.
	Created bool
	// Deleted: the write removed the object, or a deletion found nothing left
	// to wait for.
	Deleted bool
	// UID is the object's uid.
	UID string
}

// maxRedefined bounds how often a write whose definition was replaced under it
// is repeated: more often than anybody changes a definition in that time.
const maxRedefined = 100

// Again repeats a write whose definition was replaced under it.
func Again[T any](write func() (T, error)) (out T, err error) {
	for range maxRedefined {
		if out, err = write(); !errors.Is(err, catalog.ErrReplaced) {
			return out, err
		}
	}
	return out, apierrors.NewInternalError(err)
}

// Sent is an object that a client sends to have something done, and that is kept
// nowhere: a Binding, an Eviction, a TokenRequest, or the options of a
// connection.
type Sent struct {
	Kind schema.GroupVersionKind
	// Object is a pointer to its Go type, whose own apiVersion and kind do not
	// matter.
	Object any
	// Connects: it is the options of a connection.
	Connects bool
	// Prepare completes and validates Object when mutating admission has changed
	// it, before validating admission sees it; nil for nothing.
	Prepare func(ctx context.Context) error
}

// Edit is a change of an object that exists.
type Edit struct {
	// Meant are what else than the name the object has to have.
	Meant  metav1.Preconditions
	DryRun bool
	// Change changes obj, a state of the object at the storage version without its
	// managedFields. It is called for each state that the edit is tried on, of
	// which the last counts. Its error is the client's, unless there is a newer
	// state to try.
	Change func(obj *unstructured.Unstructured) error
}

// List is one page of a collection.
type List struct {
	// Revision is the list's resourceVersion; 0 for none.
	Revision int64
	// Continue is the token of the next page, empty on the last.
	Continue string
	// Remaining is how many objects follow this page; nil when unknown.
	Remaining *int64
	// Shards is how the client named its part of the collection; nil for all of it.
	Shards *metav1.ShardInfo
	// Entries are the objects, which [catalog.Resource.Objects] encodes.
	Entries []*view.Entry
	// Past is how many bytes the entries have as they are stored, where they were read from
	// the store for this page alone and nobody else keeps them.
	Past int
	// Missing are the objects that belong to this page and are not in it, where the
	// definition leaves out what does not convert.
	Missing []Missing
}

// Missing is an object that does not convert to the version that was asked for.
type Missing struct {
	// Key is its namespace and name, with a slash between them.
	Key string
	// Why is what the converter said.
	Why error
}

// Meta is what the page says of itself.
func (l *List) Meta() metav1.ListMeta {
	m := metav1.ListMeta{Continue: l.Continue, RemainingItemCount: l.Remaining, ShardInfo: l.Shards}
	if l.Revision != 0 {
		m.ResourceVersion = strconv.FormatInt(l.Revision, 10)
	}
	return m
}

// Change is one event of a watch, before it is put into a client's form.
type Change struct {
	Type  watch.EventType
	Entry *view.Entry
}

// Report tells what there is of a kind that is not stored: the one object of a
// name, if there is one, or all of them for "". They are at the storage version,
// in the order of their names, and belong to the caller.
type Report func(ctx context.Context, name string) []map[string]any
