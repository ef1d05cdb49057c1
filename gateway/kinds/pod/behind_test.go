package pod

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// behind is a cache that has seen nothing until somebody waits for it.
type behind struct {
	Objects
	fresh bool
}

func (b *behind) Fresh(ctx context.Context) error {
	b.fresh = true
	return b.Objects.Fresh(ctx)
}

func (b *behind) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if !b.fresh {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return b.Objects.Get(ctx, gr, namespace, name)
}

// A client that has made a pod is told about that pod, though the cache has not seen it
// yet.
func TestAPodThatWasMadeJustNowIsThere_RES06(t *testing.T) {
	for subresource, want := range map[string]string{
		"exec":        "pod p does not have a host assigned",
		"attach":      "pod p does not have a host assigned",
		"portforward": "pod p does not have a host assigned",
		"log":         "pod p does not have a host assigned",
		"proxy":       "address not allowed",
		"eviction":    "",
	} {
		e := world(t)
		as := func(c resource.Caller) Objects { return &behind{Objects: e.Client.As(c)} }
		body := ""
		if subresource == "eviction" {
			body = evict("p")
		}
		got := askAs(t, e, as, subresource, "p", body, resource.WriteOptions{Caller: resource.Component("test")})
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", subresource, got)
		}
	}
}
