package module

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ContentRoot is where contents are kept in a store whose objects are below a prefix,
// with slashes at both ends: below no prefix of objects.
func ContentRoot(etcdPrefix string) string { return "/wasmgate" + etcdPrefix + "/blobs/" }

// ContentGrace is how long content is kept that nothing refers to. Who stores
// content has to write the reference in less.
const ContentGrace = 15 * time.Minute

var (
	// ErrNoContent means that [Content] does not hold a digest.
	ErrNoContent = errors.New("no such content")
	// ErrContentDamaged means that what [Content] holds is not what was stored.
	ErrContentDamaged = errors.New("the stored content is damaged")
	// ErrNoRoom means that [Content] may not hold any more.
	ErrNoRoom = errors.New("there is no room for the content")
)

// Content keeps the bytes of modules by digest.
type Content interface {
	// Get returns the bytes that have the digest, or an error that is
	// [ErrNoContent] or [ErrContentDamaged].
	Get(ctx context.Context, digest string) ([]byte, error)
	// Put keeps bytes under their digest; the same again is no error. The error
	// may be [ErrNoRoom].
	Put(ctx context.Context, bytes []byte) error
	// Digest is the digest that bytes are kept under: "sha256:" and hex.
	Digest(bytes []byte) string
}

// Contents are all contents that are stored.
type Contents interface {
	// Sweep removes contents that were without a reference for ContentGrace.
	// referenced returns the digests that are referred to at that time.
	Sweep(ctx context.Context, referenced func(ctx context.Context) (map[string]bool, error)) (removed int, err error)
	// Digest is the digest that bytes are stored under.
	Digest(bytes []byte) string
}

// uploaded is the key of what [Uploading] says.
type uploaded struct{}

// Uploading is the context of a write that names content whose bytes came with the
// request.
func Uploading(ctx context.Context, digest string) context.Context {
	return context.WithValue(ctx, uploaded{}, digest)
}

// Claims are the digests that a write names: the only one that is allowed, and the one that
// is to be used. What [Uploading] says came with the request, so it is not among them.
func Claims(ctx context.Context, obj *unstructured.Unstructured) (digests []string) {
	upload, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "source", "upload")
	for _, d := range []string{PinnedDigest(upload), obj.GetAnnotations()[ContentAnnotation]} {
		if d != "" && d != ctx.Value(uploaded{}) {
			digests = append(digests, d)
		}
	}
	return digests
}

// Digests returns the digests of all contents that a module refers to: what is
// asked for first, then what serves or served last, then the history. The same
// digest may occur several times. digest makes one of bytes.
func Digests(obj *unstructured.Unstructured, digest func(bytes []byte) string) []string {
	upload, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "source", "upload")
	all := []string{PinnedDigest(upload), obj.GetAnnotations()[ContentAnnotation]}
	inline, _, _ := unstructured.NestedString(obj.Object, "spec", "source", "inline")
	if bytes, err := base64.StdEncoding.DecodeString(inline); err == nil && inline != "" {
		all = append(all, digest(bytes))
	}
	if pulled, ok := PulledOf(obj); ok {
		all = append(all, pulled.Digest)
	}
	serves, _, _ := unstructured.NestedString(obj.Object, "status", "digest")
	all = append(all, serves)
	if kept := StatusOf(obj).KeptOf(obj); kept != nil {
		all = append(all, kept.Digest)
	}
	history, _, _ := unstructured.NestedSlice(obj.Object, "status", "revisions")
	for _, r := range history {
		if r, ok := r.(map[string]any); ok {
			digest, _ := r["digest"].(string)
			all = append(all, digest)
		}
	}
	return slices.DeleteFunc(all, func(d string) bool { return d == "" })
}
