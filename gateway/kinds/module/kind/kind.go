// Package kind owns how the parts of WasmModules are joined: what is uploaded, pulled,
// tried, loaded, called and watched.
//
// It must not know what any of them does.
package kind

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/bindings"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/folder"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/healthy"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/permission"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/shadow"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/status"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trial"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/upload"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/compiler"
)

// Modules are the modules of this process, for the kinds that call some.
type Modules struct {
	*host.Host
	config kinds.Config
	lines  *log.Logs
	calls  *calls.Calls
	trust  *trust.Policies // once there is an engine
	folder *folder.Folder  // too
}

// New makes a host without modules, which Close of its kind ends.
func New(ctx context.Context, c kinds.Config) (*Modules, error) {
	o := c.Options
	processes, err := compiler.New(compiler.Limits{MemoryBytes: o.ModuleCompileMemory, CPU: o.ModuleCompileTime})
	if err != nil {
		return nil, err
	}
	if !compiler.Encloses() {
		c.Log.Warn().Str("component", "modules").Msg("this system has no Landlock: the process that compiles modules can read the gateway's files")
	}
	room := c.ModuleMemory
	m := &Modules{config: c, lines: log.New(), calls: calls.New()}
	m.Host, err = host.New(ctx, host.Config{
		Compiler: processes,
		CacheDir: filepath.Join(o.DataDir, "wasm-cache"), Store: c.Store, Root: module.ContentRoot(o.EtcdPrefix),
		Metrics: c.Metrics, Lines: m.lines, Quota: o.ModuleQuota, IdleBytes: idle(o.ModuleIdleMemory, room.Most()), Room: room, Log: c.Log, SafeMode: o.SafeMode,
		Calls: m.calls, FailedBytes: o.ModuleFailedCalls,
	})
	return m, err
}

// idle is what idle instances keep: what is said, and never so much of what there is for
// all that nothing is left for others.
func idle(said int64, all int) int64 {
	most := int64(all / 2)
	if said == 0 {
		return most
	}
	return min(said, most)
}

// Count is told what a call that the host does not see came to.
func (m *Modules) Count(name string, hook plugins.Hook, took time.Duration, err error) {
	m.calls.Count(name, hook, took, err)
}

// Webhooks calls modules that are webhooks, and lets them look up what is in e.
func (m *Modules) Webhooks(e *engine.Engine) (admitting.ModuleCall, admitting.ModuleSigners) {
	objects := local.Part(e, "modules")
	return m.Admit(func(_ context.Context, o plugins.Object) ([]byte, error) {
		data, err := objects.Stored(schema.GroupResource{Group: o.Group, Resource: o.Resource}, o.Namespace, o.Name)
		if apierrors.IsNotFound(err) {
			return nil, plugins.ErrNoObject
		}
		return data, err
	}), (&signers{objects: objects, known: map[string]vouched{}}).of
}

// Kind is that of WasmModules.
func (m *Modules) Kind() kinds.Kind {
	return kinds.Kind{
		Extend: m.extend,
		Admission: func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			objects := local.Part(e, "modules")
			trusted := trusting{m, objects}
			lossy := lossless.NewGuard(objects, trusted, m.Content(), lossless.Prover{Converter: m.Converter, Stored: objects.Sample})
			return []admission.Plugin{bindings.Bindings{Status: m.Status, Distrusted: trusted.distrusted}, status.Guard{}, permission.Guard{May: may, Stored: m.Blobs().OpenBlob}, lossy}, nil
		},
		Serve: m.serve,
		Close: m.Close,
	}
}

func (m *Modules) extend(d *crd.Definition) {
	switch d.GroupResource() {
	case gvr.Trusts:
		for _, v := range d.Versions {
			v.Strategy = trust.Written{Strategy: v.Strategy}
		}
		return
	case gvr.Modules:
	default:
		return
	}
	d.Hooks = module.InUse{}
	for _, v := range d.Versions {
		v.Strategy = upload.Sources{Strategy: v.Strategy, Checker: m, Trust: func() upload.Trust { return m.trust }, Image: host.CheckImage}
	}
}

func (m *Modules) serve(e *engine.Engine) (kinds.Served, error) {
	objects := local.Part(e, "modules")
	m.trust = trust.New(objects)
	err := readTrust(m.trust, m.config.Options.ModuleTrustFile)
	if err == nil {
		err = readRegistries(m.Host, m.config.Options.ModuleRegistriesFile)
	}
	if err != nil {
		return kinds.Served{}, err
	}
	if m.folder, err = folder.New(context.Background(), m, m.trust, m.config.Options.SafeMode, m.config.Guards); err != nil { // compiling is not interrupted
		return kinds.Served{}, err
	}
	tried := trusting{m, objects}
	below := func(name string) api.ContentPath {
		return api.ContentPath{GroupResource: gvr.Modules, Subresource: name}
	}
	return kinds.Served{
		Contents: map[api.ContentPath]api.Content{below("content"): upload.Upload{Engine: e, Contents: m.Blobs(), Checker: m, Trust: m.trust, Turns: m.config.Turns}},
		Questions: map[api.ContentPath]api.Question{
			below("log"):      {Verb: "get", Code: http.StatusOK, Answer: log.Question{Logs: m.lines, Exists: e.Exists}.Answer},
			below("failures"): {Verb: "get", Code: http.StatusOK, Answer: m.Failures(e.Exists).Answer},
		},
		Starts: []kinds.Start{{Name: "load-modules", Run: m.load(e)}},
		Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				{Controller: load.NewCollector(objects, m.Contents())},
				{Controller: image.New(objects, m.Images(tried.trusts))},
				{Controller: shadow.New(objects, tried, m.Content(), trial.Trials{Catalog: e.Catalog(), Store: m.config.Store, Converter: m.Converter})},
				{Controller: coverage.New(objects)},
				{Controller: lossless.New(objects, tried, m.Content(), lossless.Prover{Converter: m.Converter, Stored: objects.Sample})},
			}
		},
	}, nil
}

// load lets every gateway load modules, and waits until what can serve does.
func (m *Modules) load(e *engine.Engine) func(context.Context, string, func(func())) error {
	return func(ctx context.Context, gateway string, work func(func())) error {
		objects := local.Part(e, "controllers")
		loader := load.New(objects, m.folder.Beside(), m.Content(), m.trust)
		work(func() {
			controller.Run(ctx, m.config.Log, objects, loader, load.Revocation{Controller: loader}, healthy.New(objects, m.Status, m.calls, gateway))
		})
		work(func() { m.CollectCode(ctx) })
		work(func() { m.followTrust(ctx) })
		work(func() { m.followRegistries(ctx) })
		m.AwaitLoaded(ctx, objects, loader.Looked)
		return nil
	}
}
