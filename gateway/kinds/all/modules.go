package all

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/healthy"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	modulelog "github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/shadow"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trial"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/upload"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/question"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// modules are WasmModules: uploaded, pulled, tried, loaded, watched.
func (c Config) modules() kinds.Kind {
	return kinds.Kind{
		Extend: func(d *crd.Definition) {
			if d.GroupResource() != gvr.Modules {
				return
			}
			d.Hooks = module.InUse{}
			for _, v := range d.Versions {
				v.Strategy = upload.Sources{Strategy: v.Strategy, Checker: c.Modules, Image: host.CheckImage}
			}
		},
		Serve: func(e *kinds.Engine) (kinds.Served, error) {
			objects := as(e, "modules")
			return kinds.Served{
				Contents:  map[api.ContentPath]api.Content{below("content"): upload.Upload{Engine: e, Contents: c.Modules.Blobs(), Checker: c.Modules}},
				Questions: map[api.ContentPath]api.Question{below("log"): {Verb: "get", Code: http.StatusOK, Answer: modulelog.Question{Logs: c.Lines, Exists: exists(e)}.Answer}},
				Starts:    []kinds.Start{{Name: "load-modules", Run: c.load(e)}},
				Controllers: func() []kinds.Controller {
					return []kinds.Controller{
						{Controller: load.NewCollector(objects, c.Modules.Contents())},
						{Controller: image.New(objects, c.Modules.Images())},
						{Controller: shadow.New(objects, c.Modules, c.Modules.Content(), trial.Trials{Catalog: e.Catalog(), Store: c.Store, Converter: c.Modules.Converter})},
						{Controller: coverage.New(objects)},
					}
				},
			}, nil
		},
	}
}

// below is a subresource of modules.
func below(name string) api.ContentPath {
	return api.ContentPath{GroupResource: gvr.Modules, Subresource: name}
}

// load lets every gateway load modules, and waits until what can serve does.
func (c Config) load(e *kinds.Engine) func(context.Context, string, func(func())) error {
	return func(ctx context.Context, gateway string, work func(func())) error {
		objects := as(e, "controllers")
		loader := load.New(objects, c.Modules, c.Modules.Content())
		work(func() {
			controller.Run(ctx, c.Log, objects, loader, healthy.New(objects, c.Modules.Status, c.Calls, gateway))
		})
		work(func() { c.Modules.CollectCode(ctx) })
		c.Modules.AwaitLoaded(ctx, objects, loader.Looked)
		return nil
	}
}

// exists fails for an object that does not exist.
func exists(e *kinds.Engine) func(context.Context, resource.Target) error {
	return func(ctx context.Context, t resource.Target) error {
		t.Subresource = ""
		_, err := e.Get(ctx, t, "", encoding.MetadataOnly())
		return err
	}
}

// versionPriorities are orders of versions that modules decide on.
func (c Config) versionPriorities() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		orders := ordering.New(e.Catalog(), c.Log)
		return kinds.Served{
			Orders: func() discovery.Order { return orders.Current() },
			Questions: map[api.ContentPath]api.Question{
				below("prioritize"): {Verb: "create", Code: http.StatusOK, Answer: question.Preview{
					Versions: orders.Versions, Exists: exists(e), Judge: e.Judge, Prioritize: c.Modules.Prioritize,
				}.Answer},
			},
			Controllers: func() []kinds.Controller {
				return []kinds.Controller{{Controller: versionpriority.New(as(e, "version-priorities"), c.Modules, orders)}}
			},
		}, nil
	}}
}

// events tell of what becomes of modules and orders.
func (c Config) events() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{{Controller: event.New(as(e, "events"), []schema.GroupResource{gvr.Modules, gvr.Priorities}...)}}
		}}, nil
	}}
}
