package controllertest

import "github.com/wasmgate/wasmgate/gateway/controller/client"

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
	client.Deleter
	client.Follower
	client.Freshener
}
