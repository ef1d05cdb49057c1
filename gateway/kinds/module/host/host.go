// Package host owns the modules of this process: the Wasm runtime, what it
// has loaded, and the store of contents it is loaded from.
//
// It knows the names of hooks, and which contents WasmModules serve, so that those
// are loaded before the gateway is ready. It must not know who asks for a module,
// nor what is done with what a hook answers.
package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/failed"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/quarantine"
	modules "github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// Config is what a [Host] needs. All fields but Compiler, Store, Root
// and FailedBytes are required.
type Config struct {
	// CacheDir keeps compiled modules between starts, and remembers which were
	// being loaded when the process ended. Nobody else may write there, and no
	// other process uses it.
	CacheDir string
	// Compiler compiles modules in other processes; nil compiles in this one.
	Compiler wasm.Compiler
	// SafeMode loads no modules.
	SafeMode bool
	// Store keeps contents below Root, which ends with a slash. It may be nil where
	// nobody asks for them.
	Store storage.Store
	Root  string
	// Quota bounds the sum of contents, in bytes; 0 means no bound.
	Quota int64
	// IdleBytes bounds the memory of idle instances; 0 means no bound.
	IdleBytes int64
	Metrics   *metrics.Metrics
	// Lines keep what modules write.
	Lines Lines
	// Calls count calls.
	Calls Calls
	// FailedBytes is how much memory keeps calls that failed; 0 keeps none.
	FailedBytes int64
	Log         zerolog.Logger
	// Room is where the memory of instances comes from.
	Room wasm.Room
}

// Calls count what calls of modules came to.
type Calls interface {
	// Begin is told of a revision before its first call.
	Begin(name, revision string)
	// Count is told of each call of a module that there is when it has ended, but
	// for conversions, which are observed where they are asked for.
	Count(name string, hook plugins.Hook, took time.Duration, err error)
	// Forget drops what was counted of a module that is no more.
	Forget(name string)
}

// Lines keep what modules write, for a while.
type Lines interface {
	// Append adds a line that the module called name wrote.
	Append(name, line string)
	// Forget drops what it wrote.
	Forget(name string)
}

// Host runs modules. It is the load.Runtime of the module controller, and
// safe for concurrent use.
type Host struct {
	metrics  *metrics.Metrics
	lines    Lines
	log      zerolog.Logger
	engine   *wasm.Engine
	registry *modules.Registry
	// registries are where images come from.
	registries oci.Registries
	blobs      *blob.Blobs
	marks      *quarantine.Marks
	calls      Calls
	failed     *failed.Calls
	few        zerolog.Logger // of what may come often
	loaded     func()         // calls of modules that are not there wait no more
}

// New makes a host without modules. It has to be closed.
func New(ctx context.Context, c Config) (*Host, error) {
	log := c.Log.With().Str("component", "modules").Logger()
	engine, err := wasm.NewEngine(ctx, wasm.Config{
		CacheDir: c.CacheDir,
		Room:     c.Room,
		Compiler: logged(c.Compiler, log),
		Log: func(name, line string) {
			log.Debug().Str("module", name).Msg(line)
			c.Lines.Append(name, line)
		},
	})
	if err != nil {
		return nil, err
	}
	marks, err := quarantine.Open(filepath.Join(c.CacheDir, "loading"))
	if err != nil {
		return nil, errors.Join(err, engine.Close(ctx))
	}
	if c.SafeMode {
		log.Warn().Msg("safe mode: no modules are loaded")
	}
	loaded := make(chan struct{})
	h := &Host{metrics: c.Metrics, lines: c.Lines, log: log, engine: engine, marks: marks, calls: c.Calls, failed: failed.New(c.FailedBytes), few: log.Sample(&zerolog.BurstSampler{Burst: 3, Period: 10 * time.Second}), loaded: sync.OnceFunc(func() { close(loaded) }), blobs: blob.New(c.Store, c.Root).Limit(c.Quota)}
	calls := modules.Config{Compiler: engine, Marks: marks, SafeMode: c.SafeMode, Loaded: loaded, Observe: h.observe, Begins: h.begins, IdleBytes: c.IdleBytes, Looked: c.Metrics.Plugins.Lookup, Hint: hint}
	if h.failed != nil {
		calls.Failed = h.keep
	}
	h.registry = modules.New(calls)
	if err := c.Metrics.PluginInstances(h.instances); err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// hint says where to see what a module wrote, which is kept of those that serve.
func hint(name string) string {
	if plugins.NameOf(name) != name {
		return ""
	}
	return "; what it wrote is told by: wasmgate module logs " + name
}

// instances are those of all modules, for the metrics.
func (m *Host) instances() (all []metrics.Instances) {
	for name, s := range m.registry.Instances() {
		all = append(all, metrics.Instances{Module: name, Idle: s.Idle, InUse: s.InUse, Max: s.Max, IdleBytes: s.IdleSize, GivenBack: s.GivenBack, HeldBack: s.HeldBack})
	}
	return all
}

// begins tells who counts calls what they are calls of from now on.
func (m *Host) begins(name string, rev plugins.Revision) {
	m.calls.Begin(name, module.RevisionName(rev))
}

// observe records what a call took, of modules that there still are.
func (m *Host) observe(name string, hook plugins.Hook, used plugins.Usage, discarded error) {
	if !m.Known(name) {
		return
	}
	m.metrics.Plugins.Usage(name, string(hook), used.Fuel, used.MemoryBytes)
	if discarded == nil {
		return
	}
	reason := plugins.BadReply // what the caller refused
	var failure *plugins.CallError
	if errors.As(discarded, &failure) {
		reason = failure.Kind
	}
	m.metrics.Plugins.Discard(name, string(hook), string(reason))
}

// keep keeps a call that failed, of modules that serve: what is tried beside one is sent
// objects that nobody has.
func (m *Host) keep(name string, hook plugins.Hook, rev plugins.Revision, request []byte, err error) {
	if plugins.NameOf(name) != name {
		return
	}
	id, first := m.failed.Keep(name, hook, rev, request, err)
	if !first {
		return
	}
	m.lines.Append(name, "a call of "+string(hook)+" failed, and is kept: wasmgate module replay "+id)
	m.few.Warn().Str("module", name).Str("hook", string(hook)).Str("id", id).Msg("a call failed, and is kept for: wasmgate module replay ID")
}

// Failures answers which calls failed, and with what was sent; exists fails for a module
// that does not exist.
func (m *Host) Failures(exists func(context.Context, resource.Target) error) failed.Question {
	return failed.Question{Calls: m.failed, Exists: exists}
}

// Close ends all modules, and then the runtime.
func (m *Host) Close(ctx context.Context) error {
	err := errors.Join(m.registry.Close(ctx), m.marks.Close())
	if n := m.registry.Loading(); n > 0 {
		// A compilation cannot be interrupted, and needs the runtime.
		m.log.Warn().Int("modules", n).Msg("ending while modules are being compiled")
		return err
	}
	return errors.Join(err, m.engine.Close(ctx))
}

// Converter is the converter that the module called name is; whether there is
// one shows when it is called.
func (m *Host) Converter(name string) *conversion.Bulk { return m.registry.Converter(name) }

// Admit returns what asks the admission hook of the module called name, which finds
// there what it was granted; the reply belongs to accept. The error is a
// *plugins.CallError, or accept's; by is the digest of the content that was called.
func (m *Host) Admit(there plugins.Lookup) func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) (by string, err error) {
	return func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) (by string, err error) {
		err = m.called(name, plugins.Admit, func() (err error) {
			by, err = m.registry.Admit(ctx, name, review, there, accept)
			return err
		})
		return by, err
	}
}

// Prioritize asks the module called name for the order of versions; the reply
// belongs to accept. Its error is a *plugins.CallError, or accept's.
func (m *Host) Prioritize(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error {
	return m.called(name, plugins.Prioritize, func() error { return m.registry.Call(ctx, name, plugins.Prioritize, review, accept) })
}

// called counts a call.
func (m *Host) called(name string, hook plugins.Hook, call func() error) error {
	begun, result, label := time.Now(), "success", name
	err := call()
	took := time.Since(begun)
	if err != nil {
		result = "error"
	}
	if m.Known(name) {
		m.calls.Count(name, hook, took, err)
	} else { // a name that a configuration invents makes no label
		label = ""
	}
	m.metrics.Plugins.Call(label, string(hook), result, took.Seconds())
	return err
}

// Set implements load.Runtime.
func (m *Host) Set(ctx context.Context, name string, rev plugins.Revision) error {
	_, err := m.registry.Set(ctx, name, rev)
	return err
}

// Withdraw implements load.Runtime.
func (m *Host) Withdraw(name string, why *plugins.LoadError) { m.registry.Withdraw(name, why) }

// Grant implements load.Runtime.
func (m *Host) Grant(name string, grants []plugins.Grant) { m.registry.Grant(name, grants) }

// Status implements load.Runtime.
func (m *Host) Status(name string) (plugins.Status, bool) { return m.registry.Status(name) }

// Check implements upload.Checker.
func (m *Host) Check(name string, bytes []byte) error { return m.engine.Check(name, bytes) }

// Remove implements load.Runtime.
func (m *Host) Remove(name string) {
	m.registry.Remove(name)
	m.metrics.Plugins.Forget(name)
	m.lines.Forget(name)
	m.calls.Forget(name)
	m.failed.Forget(name)
}

// Blobs is where the contents of modules are kept.
func (m *Host) Blobs() *blob.Blobs { return m.blobs }

// Content is the module.Content that keeps the bytes of modules in the store.
func (m *Host) Content() module.Content { return content{m.blobs} }

// content implements module.Content.
type content struct{ blobs *blob.Blobs }

// Get implements module.Content.
func (c content) Get(ctx context.Context, digest string) ([]byte, error) {
	data, err := c.blobs.GetBlob(ctx, digest)
	switch {
	case storage.KindOf(err) == storage.NotFound:
		return nil, fmt.Errorf("%w: %s", module.ErrNoContent, digest)
	case errors.Is(err, blob.ErrCorrupt), errors.Is(err, blob.ErrDigest):
		return nil, fmt.Errorf("%w: %w", module.ErrContentDamaged, err)
	}
	return data, err
}

// Put implements module.Content.
func (c content) Put(ctx context.Context, data []byte) error {
	_, err := c.blobs.PutBlob(ctx, data)
	if errors.Is(err, blob.ErrQuota) {
		return fmt.Errorf("%w: %w", module.ErrNoRoom, err)
	}
	return err
}

// Digest implements module.Content and module.Contents.
func (content) Digest(data []byte) string { return blob.Digest(data) }

// contents implements module.Contents.
type contents struct {
	content
	*blob.Collector
}

// Contents is the module.Contents of the store, for one user.
func (m *Host) Contents() module.Contents {
	return contents{content{m.blobs}, blob.NewCollector(m.blobs, module.ContentGrace)}
}

// Known tells whether there is a module of that name, loaded or refused.
func (m *Host) Known(name string) bool { return m.registry.Known(name) }

const (
	// loadTimeout is how long the gateway waits at the start for modules that
	// served before; one that takes longer is served when it is there.
	loadTimeout = 30 * time.Second
	loadPoll    = 20 * time.Millisecond
)

// collectInterval is how often compiled code is looked at that no module uses.
const collectInterval = 10 * time.Minute

// CollectCode removes, until ctx ends, compiled code of modules that are gone.
// Every gateway does that in its own folder.
func (m *Host) CollectCode(ctx context.Context) {
	for controller.Pause(ctx, collectInterval) {
		if err := m.engine.Collect(); err != nil {
			m.log.Error().Err(err).Msg("compiled code of modules is not collected")
		}
	}
}

// AwaitLoaded waits until the modules that served before do so again, so that a
// gateway that is ready can call them; looked tells that everything was tried
// for one. Until it has ended a call of a module that is not there waits, too.
func (m *Host) AwaitLoaded(ctx context.Context, objects module.Lister, looked func(name string) bool) {
	defer m.loaded()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	wanted, err := objects.List(ctx, gvr.Modules, "")
	if err != nil {
		m.log.Error().Err(err).Msg("modules cannot be listed; not waiting for them")
		return
	}
	for _, w := range wanted {
		digest, _, _ := unstructured.NestedString(w.Object, "status", "digest")
		for digest != "" {
			if s, _ := m.registry.Status(w.GetName()); s.Serving != nil || looked(w.GetName()) {
				break
			}
			if !controller.Pause(ctx, loadPoll) {
				m.log.Warn().Str("module", w.GetName()).Msg("module not loaded in time; going on without it")
				return
			}
		}
	}
}
