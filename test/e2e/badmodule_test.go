package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestBadModules uploads what is no usable module: each is refused with the
// reason, at once or in its status, and a good one before it keeps serving.
func TestBadModules(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	good := harness.Module(t, crontabModule)
	for name, bad := range map[string]struct {
		wasm []byte
		why  string
	}{
		"no Wasm":               {[]byte("#!/bin/sh\necho hello\n"), "not a WebAssembly module"},
		"cut off":               {good[:len(good)/2], ""},
		"empty module":          {[]byte("\x00asm\x01\x00\x00\x00"), "memory"},
		"lacks exports":         {harness.Module(t, "testdata/noexports"), "wasmgate_"},
		"imports something":     {harness.Module(t, "testdata/imports"), "open_door"},
		"not Wasm of a version": {[]byte("\x00asm\x09\x00\x00\x00"), "version"},
	} {
		t.Run("WP-01 "+name, func(t *testing.T) {
			api := s.API(t)
			module := "bad-" + unique()
			newModule(t, api, module)
			content(api, module, bad.wasm).WantStatus(422, "Invalid", bad.why)
			if got := api.Get(modulePath + "/" + module).Object(); got.At("metadata.annotations") != nil {
				t.Errorf("the module names content that was refused: %v", got)
			}
			api.Get("/readyz").Want(200)
		})
	}
	trap := plugintest.Func{Code: plugintest.Trap}
	for name, bad := range map[string]struct {
		wasm   []byte
		reason string
	}{
		"does not validate": {plugintest.Echo("").With("wasmgate_convert", plugintest.Hook(0x41, 0)).Bytes(), "CompileFailed"},
		"does not start":    {plugintest.Echo("").With("_initialize", trap).Bytes(), "StartFailed"},
	} {
		t.Run("WP-01 "+name, func(t *testing.T) {
			api := s.API(t)
			module := "bad-" + unique()
			upload(t, api, module, bad.wasm)
			if refused := awaitRefused(api, module); refused.Str("reason") != bad.reason || refused.Str("message") == "" {
				t.Errorf("refused %v, want %s", refused, bad.reason)
			}
			awaitCondition(api, modulePath+"/"+module, "Ready", "False")
			api.Get(modulePath+"/"+module, "Accept", tableAccept).Want(200).Equal("rows.0.cells.1", "False").Equal("rows.0.cells.2", bad.reason)
			api.Get("/readyz").Want(200)
		})
	}
	outlivesBadModules(t, s, good, trap)
}

// outlivesBadModules shows what goes on when a revision or a module is of no use.
func outlivesBadModules(t *testing.T, s *harness.Server, good []byte, trap plugintest.Func) {
	t.Helper()
	t.Run("WP-01 the last good revision keeps serving", func(t *testing.T) {
		module := "kept-" + unique()
		pushModule(t, s.API(t), module, good)
		c := newWasmCronTabs(t, s, module)
		create := func(name string) {
			t.Helper()
			o := c.object("v1", name, `{}`)
			o["host"], o["port"] = name, "1"
			c.api.Post(c.list("v1"), o).Want(201).Equal("host", name)
			c.api.Get(c.path("v1beta1", name)).Want(200).Equal("hostPort", name+":1")
		}
		create("before")
		served := c.api.Get(modulePath + "/" + module).Str("status.digest")
		content(c.api, module, []byte("not a module")).Want(422)
		content(c.api, module, plugintest.Echo("").With("_initialize", trap).Bytes()).Want(200, 201)
		awaitRefused(c.api, module)
		create("after")
		if got := c.api.Get(modulePath + "/" + module).Str("status.digest"); got != served {
			t.Errorf("served is %s, was %s", got, served)
		}
		c.api.Delete(modulePath + "/" + module).Want(409)
		content(c.api, module, good).Want(200)
		awaitCondition(c.api, modulePath+"/"+module, "Ready", "True")
	})
	t.Run("WP-01 a definition may name a module that is not there yet", func(t *testing.T) {
		c := newCronTabs(t, s, func(crd object) {
			crd.Set("spec.conversion", wasmConversion("none-"+unique()))
		})
		c.create("one")
		c.api.Get(c.path("v1", "one")).Want(200)
		c.api.Get(c.path("v1beta1", "one")).Want(500)
	})
	t.Run("CRD-21 urls that name no module are refused", func(t *testing.T) {
		api := s.API(t)
		for _, url := range []string{"wasm://", "wasm://Not_A_Name", "wasm://a/b", "wasm://a?x=y", "wasm://u@a", "wasm://a:80", "http://a"} {
			crd := parse(t, strings.NewReplacer("GROUP", "bad.example.com", "SCHEMA", cronTabSchema).Replace(cronTabCRD))
			conversion := wasmConversion("x")
			object(conversion).Set("webhook.clientConfig.url", url)
			crd.Set("spec.conversion", conversion)
			api.Post(crdPath, crd).WantStatus(422, "Invalid", "spec.conversion.webhook")
		}
	})
}

// TestFaultyModule calls a module that misbehaves: every fault fails the
// request that met it, and nothing else.
func TestFaultyModule(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	module := "faulty-" + unique()
	pushModule(t, s.API(t), module, harness.Module(t, "testdata/faulty"), "timeout", "3s", "memory", "64Mi")
	c := newWasmCronTabs(t, s, module)
	c.api.Post(c.list("v1beta1"), c.object("v1beta1", "well", `{"host":"h"}`)).Want(201)

	for fault, why := range map[string]string{
		"trap": "", "loop": "DeadlineExceeded", "pointer": "", "length": "", "nothing": "", "garbage": "", "memory": "",
		"uid": "uid", "name": "name", "kind": "kind", "count": "", "review-uid": "uid",
	} {
		c.run("CRD-16 CRD-17 WP-01 "+fault, func(t *testing.T, c *cronTabs) {
			o := c.object("v1beta1", "fault-"+fault, `{"host":"h"}`)
			o.Set("metadata.annotations", map[string]any{"fault": fault})
			c.api.Post(c.list("v1beta1"), o).Want(201)
			r := c.api.Get(c.path("v1", "fault-"+fault)).Want(500)
			if o := r.Object(); o.Str("kind") != "Status" || o.Str("status") != "Failure" ||
				!strings.Contains(strings.ToLower(o.Str("message")), strings.ToLower(why)) || !strings.Contains(o.Str("message"), "conversion module \""+module+"\" for ") ||
				!strings.Contains(o.Str("message"), "wasmgate module logs "+module) {
				t.Errorf("%s, want %q in it", r.Body, why)
			}
			c.api.Get(c.path("v1", "well")).Want(200).Equal("spec.host", "h")
			c.api.Get(c.list("v1")).Want(500)
			c.api.Get(c.list("v1beta1")).Want(200)
			c.api.Get(c.list("v1"), "Accept", metaList).Want(200)
			c.api.Delete(c.path("v1beta1", "fault-"+fault)).Want(200)
		})
	}
}
