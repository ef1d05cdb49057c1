package controllertest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Engine is everything that controllers use of the engine: the union of the
// interfaces that they compose. [RunEngine] says how it behaves.
type Engine interface {
	client.Getter
	client.MetadataGetter
	client.Lister
	client.MetadataLister
	client.Catalog
	client.Creator
	client.Updater
	client.MetadataUpdater
	client.Deleter
	client.Follower
	client.Freshener
	// Kinds are the definitions that are served.
	Kinds(ctx context.Context) ([]*crd.Definition, error)
	// Ownership reads who owns an object, from the cache, or with live from the store.
	Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error)
}
