package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/test/harness"
)

// pulledImage is what an earlier gateway noted of an image in an annotation.
func pulledImage(image, manifest, digest string) object {
	return object{"metadata": object{"annotations": object{
		"wasmgate.dev/pulled-image": fmt.Sprintf(`{"image":%q,"manifest":%q,"digest":%q}`, image, manifest, digest),
	}}}
}

// fromImage is a module whose bytes come from a registry.
func fromImage(name, image string) object {
	return object{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": object{"name": name},
		"spec": object{"source": object{"oci": object{"image": image}}}}
}

// What a client writes does not pass for what the gateway found out: where a
// module comes from, and what serves.
func TestTheOriginOfAModuleCannotBeForged(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, path := g.API(t), modulePath+"/forged"
	bytes := plugintest.Build(t, plugintest.Policy)
	digest := blob.Digest(bytes)
	pushModule(t, api, "own", bytes)
	image := ocitest.Start(t, nil) + "/signed/module@sha256:" + strings.Repeat("a", 64)
	api.Post(modulePath, fromImage("forged", image)).Want(201)
	api.Eventually(path, func(r *harness.Reply) bool { return condition(r.Object(), "Pulled")["status"] == "False" })

	api.Merge(path, pulledImage(image, "sha256:"+strings.Repeat("a", 64), digest)).Want(200)
	r := api.Merge(path, object{"spec": object{"limits": object{"timeout": "3s"}}}).Want(200)
	generation := r.Str("metadata.generation")
	r = api.Eventually(path, func(r *harness.Reply) bool { return r.Str("status.observedGeneration") == generation })
	for _, c := range []string{"Ready", "Pulled"} {
		if status := condition(r.Object(), c)["status"]; status != "False" {
			t.Errorf("%s is %v: %s", c, status, r.Body)
		}
	}

	put := func(change func(object)) (r *harness.Reply) { // the gateway writes, too
		harness.Eventually(t, "what is sent is of the present state", func() bool {
			whole := api.Get(path).Object()
			change(whole)
			r = api.Put(path+"/status", whole)
			return r.Code != http.StatusConflict
		})
		return r
	}
	for what, status := range map[string]object{
		"status.pulled":            {"pulled": object{"image": image, "manifest": "sha256:" + strings.Repeat("a", 64), "digest": digest}},
		"status.digest":            {"digest": digest},
		"status.acceptedRevision":  {"acceptedRevision": "123"},
		"status.keptConfiguration": {"keptConfiguration": object{"digest": digest}},
		"status.hooks":             {"hooks": []any{"wasmgate_admit"}},
		"status.revisions":         {"revisions": []any{object{"digest": digest}}},
		"status.candidate":         {"candidate": object{"revision": "a-b", "digest": digest, "report": object{"state": "Completed"}}},
		"status.proofs":            {"proofs": []any{object{"revision": "a", "definition": "b", "inputs": "c", "lossless": "True"}}},
		"status.conditions":        {"conditions": []any{object{"type": "Ready", "status": "True", "reason": "Serving"}}},
		"status.size":              {"size": 7},
	} {
		api.Merge(path+"/status", object{"status": status}).WantStatus(422, "Invalid", what+": Forbidden: only the gateway writes it")
		put(func(whole object) { whole["status"] = status }).WantStatus(422, "Invalid", "only the gateway writes it")
		status := object{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "status": status}
		api.Do(http.MethodPatch, path+"/status?fieldManager=me&force=true", status, "Content-Type", "application/apply-patch+yaml").
			WantStatus(422, "Invalid", "only the gateway writes it")
	}
	put(func(whole object) { delete(whole, "status") }).WantStatus(422, "Invalid", "only the gateway writes it")

	harness.Eventually(t, "a condition of somebody else's is added to those that there are", func() bool { // the gateway writes, too
		conditions := api.Get(path).Object().At("status.conditions").([]any)
		own := append(conditions, object{"type": "example.com/Reviewed", "status": "True", "reason": "Read", "lastTransitionTime": "2026-01-01T00:00:00Z"})
		return api.Merge(path+"/status", object{"status": object{"conditions": own}}).Code == 200
	})
	api.Merge(path, object{"spec": object{"limits": object{"timeout": "4s"}}}).Want(200)
	r = api.Eventually(path, func(r *harness.Reply) bool {
		return r.Str("status.observedGeneration") == r.Str("metadata.generation")
	})
	if condition(r.Object(), "example.com/Reviewed")["reason"] != "Read" {
		t.Errorf("a client's own condition is gone: %s", r.Body)
	}
}

// A module that an earlier gateway pulled, and noted in an annotation, is pulled
// again before it serves.
func TestAnOriginOfAnEarlierGatewayIsAskedForAgain(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	var away atomic.Bool
	host := ocitest.Start(t, func(open http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if away.Load() {
				http.Error(w, "away", http.StatusServiceUnavailable)
				return
			}
			open.ServeHTTP(w, r)
		})
	})
	bytes := plugintest.Build(t, plugintest.Policy)
	manifest := ocitest.Push(t, host+"/team/tabs", "v1", auth.EmptyCredential, ocitest.Layer{MediaType: "application/wasm", Content: bytes})
	image := host + "/team/tabs@" + manifest
	etcd := harness.Start(t, harness.Options{})
	g := harness.Start(t, harness.Options{EtcdServers: etcd.EtcdURL, Args: []string{"--etcd-prefix", "/other"}})
	api, path := g.API(t), modulePath+"/tabs"
	api.Post(modulePath, fromImage("tabs", image)).Want(201)
	awaitCondition(api, path, "Ready", "True")
	g.Terminate(t)
	g.Restart(t) // which needs no registry, once it is known where the module comes from
	awaitCondition(g.API(t), path, "Ready", "True")
	g.Terminate(t)

	away.Store(true)
	asBefore(t, etcd.Etcd(t), "/other/wasmgate.dev/wasmmodules/tabs", pulledImage(image, manifest, blob.Digest(bytes)))
	g.Restart(t)
	api = g.API(t)
	api.Eventually(path, func(r *harness.Reply) bool { return condition(r.Object(), "Pulled")["status"] == "False" })
	awaitCondition(api, path, "Ready", "False")
	away.Store(false)
	api.Merge(path, object{"metadata": object{"annotations": object{"wasmgate.dev/retry": "1"}}}).Want(200)
	awaitCondition(api, path, "Ready", "True")
	api.Get(path).Equal("status.digest", blob.Digest(bytes)).Equal("status.pulled.manifest", manifest)
}

// asBefore makes a stored module one that an earlier gateway wrote: with what it
// found out in annotations.
func asBefore(t *testing.T, etcd *clientv3.Client, key string, annotations object) {
	t.Helper()
	obj := stored(t, etcd, key)
	status := obj.At("status").(map[string]any)
	for _, field := range []string{"pulled", "acceptedRevision", "keptConfiguration"} {
		delete(status, field)
	}
	obj.Set("metadata.annotations", annotations.At("metadata.annotations"))
	data, err := json.Marshal(obj.object)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := etcd.Put(ctx, key, string(data)); err != nil {
		t.Fatal(err)
	}
}
