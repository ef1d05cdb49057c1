package pod

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds/sent"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// body is what a client makes at a subresource.
type body struct {
	contentType string
	data        []byte
	kind        string
	// versions are those that it may be of; the first is the one that is meant.
	versions []schema.GroupVersion
	// keeps: uid and the like are conditions.
	keeps bool
	// validate judges what mutating admission made of it.
	validate func() error
}

// read reads the body into an object, which may leave out of which kind it is,
// checks whose it is, and lets admission judge it.
func (b body) read(ctx context.Context, judge Judge, t resource.Target, into sent.Object, o resource.WriteOptions) error {
	if err := sent.Read(sent.Body{ContentType: b.contentType, Data: b.data, Options: o}, into, t, b.kind, b.versions...); err != nil {
		return err
	}
	if !b.keeps {
		into.SetUID("")
		into.SetCreationTimestamp(metav1.Time{})
		into.SetDeletionTimestamp(nil)
		into.SetDeletionGracePeriodSeconds(nil)
	}
	return judge.Judge(ctx, t, resource.Sent{Kind: b.versions[0].WithKind(b.kind), Object: into, Prepare: func(context.Context) error {
		switch {
		case t.Name == "" && into.GetName() == "":
			return apierrors.NewBadRequest("Name parameter required.")
		case t.Name != "" && into.GetName() != t.Name:
			return apierrors.NewBadRequest(fmt.Sprintf("name in URL does not match name in %s object", b.kind))
		}
		return b.validate()
	}}, o)
}
