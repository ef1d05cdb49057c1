package garbage

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// telling are objects of which an event can be created, or not.
type telling struct {
	Objects
	err error
}

func (o telling) Create(context.Context, schema.GroupResource, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil, o.err
}

// What nobody can be told by an event is in the log; what was told, before or now, is not.
func TestEventsThatCannotBeMadeAreLogged(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx    context.Context
		err    error
		logged bool
	}{
		"it is told":              {t.Context(), nil, false},
		"it was told before":      {t.Context(), apierrors.NewAlreadyExists(schema.GroupResource{Resource: "events"}, "e"), false},
		"nobody can be told":      {t.Context(), errors.New("no room"), true},
		"nobody can be told, but": {ended, errors.New("no room"), false}, // this one ends
	} {
		var log bytes.Buffer
		r := reports{objects: telling{err: c.err}, log: zerolog.New(&log), served: func(schema.GroupResource) *crd.Definition { return nil }}
		n := node{controller.Key{GroupResource: things, Namespace: "default", Name: "one"}, thing("one")}
		r.report(c.ctx, n, "owner", "Because", "it is so")
		if text := log.String(); (text != "") != c.logged || c.logged && (!strings.Contains(text, "no room") || !strings.Contains(text, "things/default/one")) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
