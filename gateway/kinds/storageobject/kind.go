package storageobject

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of volumes, claims and classes, which are kept while they are in use.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(Claims) {
		return kinds.Kind{}
	}
	return kinds.Kind{
		Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
			objects := local.Part(e, "storage")
			return []admission.Plugin{
				plugin.StorageObjectInUseProtection{}, plugin.DefaultStorageClass{Classes: objects}, plugin.PersistentVolumeClaimResize{Classes: objects},
			}, nil
		},
		Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			protect := func(name string, gr schema.GroupResource) kinds.Controller {
				return kinds.Controller{Switch: name, Controller: NewController(local.Part(e, "storage-protection"), gr)}
			}
			return []kinds.Controller{
				protect(options.PersistentVolumeClaims, Claims), protect(options.PersistentVolumes, Volumes), protect(options.VolumeAttributesClasses, Classes),
			}
		}),
	}
}
