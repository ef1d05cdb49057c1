package load_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// memoryModules accepts bytes and configurations that do not say "bad".
type memoryModules struct {
	// grants are those that were given last.
	grants  map[string][]plugins.Grant
	mu      sync.Mutex
	serving map[string]plugins.Revision
	sets    int
	tried   []string // what bytes were set, in order
	// transient, when above zero, is how many calls fail for no lasting reason.
	transient int
}

func (m *memoryModules) Set(_ context.Context, name string, rev plugins.Revision) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sets++
	m.tried = append(m.tried, string(rev.Bytes))
	if m.transient > 0 {
		m.transient--
		return errors.New("the disk is full")
	}
	switch bytes := unsigned(rev); {
	case strings.Contains(bytes, "bad"):
		return fmt.Errorf("load: %w", &plugins.LoadError{Module: name, Reason: plugins.MissingExport, Detail: "export wasmgate_alloc is missing"})
	case strings.Contains(bytes, "slow") && m.sets < 3:
		return &plugins.LoadError{Module: name, Reason: plugins.Slow, Detail: "it goes on"}
	case strings.Contains(bytes, "deadly") && rev.Attempt == "":
		return &plugins.LoadError{Module: name, Reason: plugins.Quarantined, Detail: "it ended the gateway"}
	case strings.Contains(bytes, "bomb"):
		return &plugins.LoadError{Module: name, Reason: plugins.CompileMemory, Detail: "it takes more"}
	case strings.Contains(string(rev.Config), "bad"):
		return &plugins.LoadError{Module: name, Reason: plugins.ConfigRefused, Detail: "no such region"}
	}
	if rev.Consent != nil {
		m.mu.Unlock() // which may ask what serves
		err := rev.Consent(hooksOf(rev))
		m.mu.Lock()
		if err != nil {
			return fmt.Errorf("take over: %w", err)
		}
	}
	m.serving[name] = rev
	return nil
}

// unsigned is the text of a revision before its signatures, in which any word of
// three letters may stand by chance.
func unsigned(rev plugins.Revision) string {
	text, _, _ := strings.Cut(string(rev.Bytes), signature.SectionName)
	return text
}

// hooksOf are the hooks that bytes name, or that for conversions.
func hooksOf(rev plugins.Revision) (hooks []plugins.Hook) {
	for _, h := range plugins.Hooks() {
		if strings.Contains(string(rev.Bytes), string(h)) {
			hooks = append(hooks, h)
		}
	}
	if hooks == nil {
		hooks = []plugins.Hook{plugins.Convert}
	}
	return hooks
}

func (m *memoryModules) Status(name string) (plugins.Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rev, ok := m.serving[name]
	if !ok {
		return plugins.Status{}, false
	}
	return plugins.Status{Serving: &rev, Size: len(rev.Bytes), ABI: 1, Hooks: hooksOf(rev)}, true
}

func (m *memoryModules) Grant(name string, grants []plugins.Grant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grants = map[string][]plugins.Grant{name: grants}
}

func (m *memoryModules) Withdraw(name string, _ *plugins.LoadError) { m.Remove(name) }

func (m *memoryModules) Remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.serving, name)
}

func (m *memoryModules) get(name string) (plugins.Revision, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rev, ok := m.serving[name]
	return rev, ok
}

func (m *memoryModules) triedInOrder() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.tried, ", ")
}

func (m *memoryModules) setCalls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sets
}

// memoryContent is a ModuleContent.
type memoryContent struct {
	mu    sync.Mutex
	blobs map[string][]byte
	// damaged makes every Get fail.
	damaged bool
	// full makes every Put fail.
	full bool
}

func (c *memoryContent) Get(_ context.Context, digest string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.damaged {
		return nil, module.ErrContentDamaged
	}
	bytes, ok := c.blobs[digest]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", digest, module.ErrNoContent)
	}
	return bytes, nil
}

func (c *memoryContent) Put(_ context.Context, bytes []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return fmt.Errorf("put: %w", module.ErrNoRoom)
	}
	c.blobs[c.Digest(bytes)] = bytes
	return nil
}

func (c *memoryContent) Digest(bytes []byte) string { return digest(string(bytes)) }

// moduleWorld is one gateway's view; start makes another gateway over the same
// objects and content.
type moduleWorld struct {
	*controllertest.Objects
	content *memoryContent
}

func newModuleWorld() *moduleWorld {
	return &moduleWorld{controllertest.New(), &memoryContent{blobs: map[string][]byte{}}}
}

func (w *moduleWorld) start(t *testing.T) (*memoryModules, func()) {
	t.Helper()
	m := &memoryModules{serving: map[string]plugins.Revision{}}
	return m, controllertest.Start(t, w.Objects, load.New(w.Objects, m, w.content, trust.New(w.Objects)))
}

func digest(bytes string) string {
	sum := sha256.Sum256([]byte(bytes))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func inlineSpec(bytes string) map[string]any {
	return map[string]any{"source": map[string]any{"inline": base64.StdEncoding.EncodeToString([]byte(bytes))}}
}

func createModule(t *testing.T, w *moduleWorld, spec map[string]any) {
	t.Helper()
	controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
		"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs"}, "spec": spec,
	})
}

func changeModule(t *testing.T, w *moduleWorld, change func(obj *unstructured.Unstructured)) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", change)
}

// expect waits for "STATUS REASON" of both conditions and a serving digest.
func (w *moduleWorld) expect(t *testing.T, compiled, ready, servingDigest string) *unstructured.Unstructured {
	t.Helper()
	var obj *unstructured.Unstructured
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("last seen: %s", got)
		}
	}()
	want := compiled + ", " + ready + ", " + servingDigest
	controllertest.Eventually(t, w.Objects, want, func() bool {
		obj = controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
		c, cr, _ := controllertest.Condition(obj, "Compiled")
		r, rr, _ := controllertest.Condition(obj, "Ready")
		d, _, _ := unstructured.NestedString(obj.Object, "status", "digest")
		observed, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
		got = c + " " + cr + ", " + r + " " + rr + ", " + d
		return got == want && observed == obj.GetGeneration()
	})
	return obj
}

type brokenModules struct{}

func (brokenModules) Status(string) (plugins.Status, bool) { return plugins.Status{}, false }
func (brokenModules) Set(_ context.Context, name string, _ plugins.Revision) error {
	return &plugins.LoadError{Module: name, Reason: plugins.CompileFailed, Detail: "no room"}
}
func (brokenModules) Remove(string) {}

func (brokenModules) Withdraw(string, *plugins.LoadError) {}

func (brokenModules) Grant(string, []plugins.Grant) {}
