package registry_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// alone is a registry whose modules have one instance each.
func alone(t *testing.T) *registry.Registry {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e, LoadTimeout: 10 * time.Minute, Instances: 1})
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask calls a hook and returns a copy of the reply.
func ask(t *testing.T, r *registry.Registry, name string, hook plugins.Hook, request []byte) (reply []byte) {
	t.Helper()
	if err := r.Call(t.Context(), name, hook, request, func(got []byte) error {
		reply = bytes.Clone(got)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return reply
}

// Whatever a module can change of itself, the next call finds it as it was.
func TestModulesKeepNothing_WP01(t *testing.T) {
	r := alone(t)
	for name, guest := range plugintest.Keepers() {
		set(t, r, "keeper", guest.Bytes())
		for call := range 4 {
			if reply := ask(t, r, "keeper", plugins.Convert, []byte("{}")); len(reply) != plugintest.KeptBytes {
				t.Errorf("%s: call %d tells of one before: %d bytes", name, call, len(reply))
			}
		}
	}
}

// Nor does the first call find what the test of a module that is loaded left behind: this
// one counts how often it is asked for memory, and each time drops a segment, which
// nothing puts back.
func TestTheSelfTestLeavesNothing(t *testing.T) {
	count := plugintest.Join(plugintest.ConstI32(64), plugintest.ConstI32(64), []byte{0x28, 2, 0}, plugintest.ConstI32(1), []byte{0x6a, 0x36, 2, 0})
	guest := plugintest.Echo("").With(plugins.ExportAlloc, plugintest.Func{Params: []byte{plugintest.I32}, Results: []byte{plugintest.I32},
		Code: plugintest.Join(count, []byte{0xfc, 9, 0}, plugintest.ConstI32(65536))})
	guest = guest.With(string(plugins.Convert), plugintest.Hook(plugintest.Join(plugintest.ConstI32(64), []byte{0x28, 2, 0, 0xad})...))
	guest.Raw = map[byte][]byte{11: plugintest.List([]byte{1, 1, 7}), 12: {1}}
	r := alone(t)
	set(t, r, "counter", guest.Bytes())
	for call := range 3 {
		// Once when it started, and once for the request.
		if reply := ask(t, r, "counter", plugins.Convert, []byte("{}")); len(reply) != 2 {
			t.Errorf("call %d is told of %d", call, len(reply))
		}
	}
}

// The reply to a request is the same whatever was asked before: what a Go module
// remembers in variables, maps, goroutines and memory that it got meanwhile, nobody
// gets to see.
func TestRepliesDependOnRequestsAlone_WP01_WP02(t *testing.T) {
	const secret = "hunter2"
	module := plugintest.Build(t, plugintest.Keeper)
	requests := map[string][]byte{}
	for _, attack := range []string{"remember", "recall", ""} {
		for n := range 3 {
			object := []byte(fmt.Sprintf(`{"apiVersion":"x.example.com/v1beta1","kind":"K","metadata":{"name":"n%d","annotations":{"attack":%q}},"spec":%q}`,
				n, attack, strings.Repeat(secret, 1+1000*n)))
			if attack != "remember" {
				object = bytes.ReplaceAll(object, []byte(secret), nil)
			}
			name := fmt.Sprint(attack, n)
			requests["convert "+name] = review.AppendRequest(nil, review.V1, "u", "x.example.com/v1", [][]byte{object})
			requests["admit "+name] = []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":` + string(object) + `}}`)
		}
	}
	hookOf := func(name string) plugins.Hook {
		if strings.HasPrefix(name, "admit") {
			return plugins.Admit
		}
		return plugins.Convert
	}
	first := map[string][]byte{}
	for name, request := range requests {
		r := alone(t)
		set(t, r, "keeper", module)
		first[name] = ask(t, r, "keeper", hookOf(name), request)
		if strings.Contains(name, "recall") && !bytes.Contains(first[name], []byte("stolen")) && hookOf(name) == plugins.Convert {
			t.Fatalf("%s: %s", name, first[name])
		}
	}
	r := alone(t)
	set(t, r, "keeper", module)
	var names []string
	for name := range requests {
		names = append(names, name)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		name := names[random.IntN(len(names))]
		reply := ask(t, r, "keeper", hookOf(name), requests[name])
		if !strings.Contains(name, "remember") && bytes.Contains(reply, []byte(secret)) {
			t.Fatalf("%s tells the secret: %.200s", name, reply)
		}
		if !bytes.Equal(reply, first[name]) {
			t.Fatalf("%s\n%.300s\nand as the first call\n%.300s", name, reply, first[name])
		}
	}
}

// Nor does an object of one namespace show up in one of another that is converted with
// it, as in a list of all namespaces.
func TestObjectsOfOtherNamespacesAreNotToldOf_WP01(t *testing.T) {
	const secret = "hunter2"
	r := alone(t)
	set(t, r, "keeper", plugintest.Build(t, plugintest.Keeper))
	object := func(namespace, name, attack, spec string) []byte {
		return []byte(fmt.Sprintf(`{"apiVersion":"x.example.com/v1beta1","kind":"K","metadata":{"annotations":{"attack":%q},"name":%q,"namespace":%q},"spec":%q}`,
			attack, name, namespace, spec))
	}
	converted, err := r.Converter("keeper").Convert(t.Context(), "x.example.com/v1", [][]byte{
		object("team", "a", "remember", secret), object("team", "b", "recall", ""), object("teams", "c", "recall", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(converted[1], []byte(secret)) {
		t.Errorf("objects of one namespace do not share a call: %.300s", converted[1])
	}
	if bytes.Contains(converted[2], []byte(secret)) || !bytes.Contains(converted[2], []byte("stolen")) {
		t.Errorf("another namespace is told: %.300s", converted[2])
	}
}
