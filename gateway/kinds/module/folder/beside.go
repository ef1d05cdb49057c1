package folder

import (
	"context"

	"github.com/wasmgate/wasmgate/plugins"
)

// beside are the modules of the API, which take nothing from those of the folder: an
// object of such a name may be older than the feature.
type beside struct {
	Runtime
	folder *Folder
}

// Beside is the runtime for modules of the API.
func (f *Folder) Beside() Runtime { return beside{f.modules, f} }

// Set implements [Runtime].
func (b beside) Set(ctx context.Context, name string, rev plugins.Revision) error {
	if b.folder.has(name) {
		return &plugins.LoadError{Module: name, Reason: "NameTaken", Detail: "a module of that name is in the folder of the gateway, and serves"}
	}
	return b.Runtime.Set(ctx, name, rev)
}

// Status implements [Runtime].
func (b beside) Status(name string) (plugins.Status, bool) {
	if b.folder.has(name) {
		return plugins.Status{}, false
	}
	return b.Runtime.Status(name)
}

// Grant implements [Runtime].
func (b beside) Grant(name string, grants []plugins.Grant) {
	if !b.folder.has(name) {
		b.Runtime.Grant(name, grants)
	}
}

// Withdraw implements [Runtime].
func (b beside) Withdraw(name string, why *plugins.LoadError) {
	if !b.folder.has(name) {
		b.Runtime.Withdraw(name, why)
	}
}

// Remove implements [Runtime].
func (b beside) Remove(name string) {
	if !b.folder.has(name) {
		b.Runtime.Remove(name)
	}
}
