package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// object is one of Kubernetes' as JSON.
type object map[string]any

// tenants are the two of a server.
type tenants struct {
	s *server
	// quiet and noisy are the server as each of them sees it.
	quiet, noisy *server
	// modules: the server takes them.
	modules bool
}

const (
	// pieces of pieceBytes are in the namespace of the noisy tenant.
	pieces, pieceBytes = 500, 100_000
	loops              = "loops.noisy.example.com"
	modulePath         = "/apis/wasmgate.dev/v1/wasmmodules"
)

func configMaps(namespace string) string { return "/api/v1/namespaces/" + namespace + "/configmaps" }

// prepare makes both tenants, each with a namespace and an account that may do everything
// that an administrator may, but is not of those whom no bound holds.
func prepare(ctx context.Context, s *server) (*tenants, error) {
	t := &tenants{s: s}
	for name, of := range map[string]**server{"quiet": &t.quiet, "noisy": &t.noisy} {
		token, err := s.tenant(ctx, name)
		if err != nil {
			return nil, err
		}
		*of = &server{name: s.name, url: s.url, token: token}
	}
	text := strings.Repeat("x", pieceBytes)
	for i := range pieces {
		err := s.create(ctx, configMaps("noisy"), object{"metadata": object{"name": fmt.Sprintf("piece-%d", i)}, "data": object{"text": text}})
		if err != nil {
			return nil, err
		}
	}
	if err := s.create(ctx, configMaps("quiet"), object{"metadata": object{"name": "small"}, "data": object{"n": "0"}}); err != nil {
		return nil, err
	}
	_, err := s.do(ctx, http.MethodGet, modulePath, "", nil)
	if t.modules = err == nil; !t.modules {
		return t, nil
	}
	return t, t.loop(ctx)
}

// tenant makes one, and a token for it.
func (s *server) tenant(ctx context.Context, name string) (token string, err error) {
	for path, o := range map[string]object{
		"/api/v1/namespaces": {"metadata": object{"name": name}},
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": {"metadata": object{"name": "bench-" + name},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
			"subjects": []object{{"kind": "ServiceAccount", "name": name, "namespace": name}}},
	} {
		if err := s.create(ctx, path, o); err != nil {
			return "", err
		}
	}
	if err := s.create(ctx, "/api/v1/namespaces/"+name+"/serviceaccounts", object{"metadata": object{"name": name}}); err != nil {
		return "", err
	}
	reply, err := s.do(ctx, http.MethodPost, "/api/v1/namespaces/"+name+"/serviceaccounts/"+name+"/token", inJSON,
		[]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":86400}}`))
	if err != nil {
		return "", err
	}
	var review struct{ Status struct{ Token string } }
	err = json.Unmarshal(reply, &review)
	return review.Status.Token, err
}

// loop makes a kind whose converter never ends, and an object of it.
func (t *tenants) loop(ctx context.Context) error {
	wasm, err := build(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"loop", "uploaded"} {
		if err := t.s.create(ctx, modulePath, object{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": object{"name": name}, "spec": object{"source": object{"upload": object{}}}}); err != nil {
			return err
		}
	}
	if _, err := t.s.do(ctx, http.MethodPut, modulePath+"/loop/content", "application/wasm", wasm); err != nil {
		return err
	}
	if err := t.s.until(ctx, modulePath+"/loop", func(reply []byte) bool { return strings.Contains(string(reply), `"type":"Ready"`) }); err != nil {
		return err
	}
	version := func(name string, stored bool) object {
		return object{"name": name, "served": true, "storage": stored, "schema": object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
	}
	if err := t.s.create(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object{
		"metadata": object{"name": loops},
		"spec": object{"group": "noisy.example.com", "scope": "Namespaced", "names": object{"plural": "loops", "kind": "Loop"},
			"versions":   []object{version("v1", true), version("v2", false)},
			"conversion": object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []string{"v1"}, "clientConfig": object{"url": "wasm://loop"}}}},
	}); err != nil {
		return err
	}
	const path = "/apis/noisy.example.com/v1/namespaces/noisy/loops"
	if err := t.s.until(ctx, path, func([]byte) bool { return true }); err != nil {
		return err
	}
	return t.s.create(ctx, path, object{"apiVersion": "noisy.example.com/v1", "kind": "Loop", "metadata": object{"name": "one"}})
}

// build makes the module whose conversions never end.
func build(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "noisy")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "loop.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-o", file, "github.com/wasmgate/wasmgate/bench/noisy/loop")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the module: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}

// can tells whether a server can be disturbed so.
func (t *tenants) can(noise string) bool { return t.modules || noise != "uploads" && noise != "loops" }

// clean takes both tenants away.
func (t *tenants) clean() {
	ctx := context.Background()
	for _, path := range []string{
		"/apis/noisy.example.com/v1/namespaces/noisy/loops/one", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + loops, modulePath + "/loop", modulePath + "/uploaded",
		"/api/v1/namespaces/noisy", "/api/v1/namespaces/quiet",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bench-noisy", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bench-quiet",
	} {
		_, _ = t.s.do(ctx, http.MethodDelete, path, "", nil) // the measurement is done
	}
}
