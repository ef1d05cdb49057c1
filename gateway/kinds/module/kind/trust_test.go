package kind

import (
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// newModules are modules of which none is there, without policies.
func newModules(t *testing.T) *Modules {
	t.Helper()
	m := &Modules{config: kinds.Config{Store: storagetest.NewMemory(), Log: zerolog.Nop()}, lines: log.New(), calls: calls.New(), trust: trust.New(nil)}
	var err error
	m.Host, err = host.New(t.Context(), host.Config{
		CacheDir: filepath.Join(t.TempDir(), "cache"), Store: m.config.Store, Root: "/blobs/", Metrics: metrics.New(), Lines: m.lines, Calls: m.calls, Log: m.config.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// policies writes a file of ModuleTrusts with those specs.
func policies(t *testing.T, specs ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trust.yaml")
	write(t, file, policiesText(specs...))
	return file
}

func policiesText(specs ...string) (text string) {
	for _, spec := range specs {
		text += `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"t"},"spec":` + spec + "}\n---\n"
	}
	return text
}

// revoked is a policy that lets content serve nowhere.
func revoked(content []byte) string {
	return `{"revokedDigests":["` + signature.Digest(content) + `"]}`
}

// these are modules by name, and all but them are not there, or with err cannot be read.
type these struct {
	all map[string]map[string]any
	err error
}

func (o these) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.all[name] == nil || gr != gvr.Modules {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"source": o.all[name]}}}, nil
}

func inline(content []byte) map[string]any {
	return map[string]any{"inline": base64.StdEncoding.EncodeToString(content)}
}

// One revision is refused where a policy does not let it serve, whatever it is tried beside,
// and is not loaded.
func TestWhatIsNotTrustedIsNotTried(t *testing.T) {
	m := newModules(t)
	good, bad := plugintest.Echo("{}").Bytes(), plugintest.Echo("[]").Bytes()
	if err := m.trust.ReadFile(policies(t, revoked(bad))); err != nil {
		t.Fatal(err)
	}
	objects := these{all: map[string]map[string]any{"m": inline(good)}}
	tried := trusting{m, objects}
	for name, c := range map[string]struct {
		of      trusting
		content []byte
		as      string
		fails   string
	}{
		"it is trusted":           {tried, good, "m@trial", ""},
		"it is revoked":           {tried, bad, "m@other", "is revoked"},
		"its module is not there": {tried, good, "n@trial", "not found"},
		"its module is not read":  {trusting{m, these{err: errors.New("down")}}, good, "m@third", "down"},
	} {
		err := c.of.Set(t.Context(), c.as, plugins.Revision{Bytes: c.content, Digest: signature.Digest(c.content)})
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if m.Known(c.as) != (c.fails == "") {
			t.Errorf("%s: it is loaded: %v", name, m.Known(c.as))
		}
	}
}

// What an object is to have a module do is judged by what serves, or else by what is asked
// for, as far as that can be had.
func TestWhatDistrustedModulesAreToDo(t *testing.T) {
	good, bad := plugintest.Echo("{}").Bytes(), plugintest.Echo("[]").Bytes()
	stored := map[string]any{"upload": map[string]any{"digest": signature.Digest(bad)}}
	for name, c := range map[string]struct {
		policy  string
		serves  []byte
		objects these
		ref     plugins.Hook
		want    string
		fails   bool
	}{
		"no policy":              {"", nil, these{err: errors.New("down")}, plugins.Convert, "", false},
		"it is asked for":        {revoked(bad), nil, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Convert, "is revoked", false},
		"it serves":              {revoked(bad), bad, these{all: map[string]map[string]any{"m": inline(good)}}, plugins.Convert, "is revoked", false},
		"it serves no more":      {revoked(bad), good, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Convert, "", false},
		"what is stored":         {revoked(bad), nil, these{all: map[string]map[string]any{"m": stored}}, plugins.Convert, "is revoked", false},
		"what is not stored":     {revoked(good), nil, these{all: map[string]map[string]any{"m": {"upload": map[string]any{"digest": signature.Digest(good)}}}}, plugins.Convert, "", false},
		"no content yet":         {revoked(bad), nil, these{all: map[string]map[string]any{"m": {"upload": map[string]any{}}}}, plugins.Convert, "", false},
		"it is not there":        {revoked(bad), nil, these{}, plugins.Convert, "", false},
		"it cannot be read":      {revoked(bad), nil, these{err: errors.New("down")}, plugins.Convert, "", true},
		"another one is revoked": {revoked(good), nil, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Convert, "", false},
		"of whose conversions":   {`{"modules":{"definitions":["tabs.example.com"]},"authorities":[{"name":"a","key":KEY}]}`, nil, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Convert, "Unsigned: ", false},
		"of other definitions":   {`{"modules":{"definitions":["cups.example.com"]},"authorities":[{"name":"a","key":KEY}]}`, nil, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Convert, "", false},
		"of no conversions":      {`{"modules":{"definitions":["tabs.example.com"]},"authorities":[{"name":"a","key":KEY}]}`, nil, these{all: map[string]map[string]any{"m": inline(bad)}}, plugins.Admit, "", false},
	} {
		m := newModules(t)
		m.trust = trust.New(none{})
		if err := m.Content().Put(t.Context(), bad); err != nil {
			t.Fatal(err)
		}
		if c.serves != nil {
			if err := m.Content().Put(t.Context(), c.serves); err != nil {
				t.Fatal(err)
			}
			if err := m.Set(t.Context(), "m", plugins.Revision{Bytes: c.serves, Digest: signature.Digest(c.serves)}); err != nil {
				t.Fatal(err)
			}
		}
		if c.policy != "" {
			if err := m.trust.ReadFile(policies(t, strings.ReplaceAll(c.policy, "KEY", publicKey(t)))); err != nil {
				t.Fatal(err)
			}
		}
		why, err := trusting{m, c.objects}.distrusted(t.Context(), module.Reference{Module: "m", Hook: c.ref}, "tabs.example.com")
		if (err != nil) != c.fails || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
}

// none has no objects of any kind.
type none struct{ these }

func (none) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return nil, nil
}

// publicKey is a new one, as JSON.
func publicKey(t *testing.T) string {
	t.Helper()
	_, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Quote(string(public))
}
