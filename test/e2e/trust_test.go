package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/test/harness"
)

const trusts = "/apis/wasmgate.dev/v1/moduletrusts"

// signer is a key, and how a policy names it.
type signer struct {
	*testing.T
	key    signature.PrivateKey
	public string
}

func newSigner(t *testing.T) signer {
	t.Helper()
	private, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := signature.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer{t, key, string(public)}
}

func (s signer) sign(content []byte) []byte {
	s.Helper()
	one, err := signature.Sign(content, "", s.key)
	if err != nil {
		s.Fatal(err)
	}
	signed, err := signature.Join(content, []signature.Signature{one})
	if err != nil {
		s.Fatal(err)
	}
	return signed
}

// policy demands its signature of modules of a name.
func (s signer) policy(name, modules string) string {
	s.Helper()
	key, err := json.Marshal(s.public)
	if err != nil {
		s.Fatal(err)
	}
	return fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":%q},"spec":{"modules":{"names":[%q]},"authorities":[{"name":"release","key":%s}]}}`, name, modules, key)
}

// awaitTrusted waits until two conditions of a module are so, at a gateway.
func awaitTrusted(api *harness.API, name, trusted, reason, ready string) {
	api.Eventually(modulePath+"/"+name, func(r *harness.Reply) bool {
		c := condition(r.Object(), "Trusted")
		return c["status"] == trusted && c["reason"] == reason && condition(r.Object(), "Ready")["status"] == ready
	})
}

// swap writes other bytes over a chunk of content that is stored, and returns what puts
// the right ones back.
func swap(t *testing.T, etcd *clientv3.Client, content []byte) (back func()) {
	t.Helper()
	page, err := etcd.Get(t.Context(), "/wasmgate/registry/blobs/"+strings.TrimPrefix(signature.Digest(content), "sha256:")+"/0", clientv3.WithPrefix())
	if err != nil || page.Count == 0 {
		t.Fatal(page, err)
	}
	key, was := string(page.Kvs[0].Key), page.Kvs[0].Value
	evil := bytes.Clone(was)
	evil[len(evil)/2] ^= 1
	put := func(value []byte) {
		t.Helper()
		if _, err := etcd.Put(t.Context(), key, string(value)); err != nil {
			t.Fatal(err)
		}
	}
	put(evil)
	return func() { put(was) }
}

// TestTrust has modules signed, refused, swapped in etcd and revoked, on two gateways.
func TestTrust(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	api, there, etcd := first.API(t), second.API(t), first.Etcd(t)
	by, stranger, module := newSigner(t), newSigner(t), plugintest.Build(t, plugintest.CronTab)
	api.Post(trusts, by.policy("prod", "crontab*")).Want(201)
	api.Post(trusts, `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"bad"},"spec":{"authorities":[{"name":"a","key":"x"}]}}`).
		WantStatus(422, "Invalid", "spec.authorities[0].key", "it is not PEM")
	good := by.sign(module)
	newModule(t, api, "crontab")
	content(api, "crontab", module).WantStatus(422, "Invalid", "content: ", `Unsigned: ModuleTrust "prod"`)
	content(there, "crontab", stranger.sign(module)).WantStatus(422, "Invalid", "content: ", "SignatureUntrusted")
	content(api, "crontab", append(bytes.Clone(good), 0, 2, 1, 'x')).WantStatus(422, "Invalid", "SignatureMalformed", "not the last")
	content(api, "crontab", good).Want(200)
	pushModule(t, api, "free", module)
	awaitTrusted(api, "crontab", "True", "Signed", "True")
	awaitTrusted(api, "free", "Unknown", "NotDemanded", "True")
	if r := api.Get(modulePath + "/crontab").Want(200); !r.Contains(`"signedBy":[{"authority":"release","key":`) {
		t.Errorf("%s", r.Body)
	}
	c := newWasmCronTabs(t, &first.Server, "crontab")
	made := c.path("v1", c.create("one").Str("metadata.name"))
	there.Eventually(made, func(r *harness.Reply) bool { return r.Code == 200 })

	t.Run("what etcd has of another module", func(t *testing.T) {
		api := first.API(t)
		name := func(digest string) {
			api.Merge(modulePath+"/crontab", `{"metadata":{"annotations":{"wasmgate.dev/content-digest":"`+digest+`"}}}`).Want(200)
		}
		name(signature.Digest(module))
		awaitTrusted(api, "crontab", "False", "Unsigned", "True") // what was before keeps serving
		api.Get(made).Want(200)
		name(signature.Digest(good))
		awaitTrusted(api, "crontab", "True", "Signed", "True")
	})
	t.Run("bytes swapped in etcd", func(t *testing.T) {
		back := swap(t, etcd, good)
		second.Terminate(t)
		second.Restart(t)
		there := second.API(t)
		there.Get(made).WantStatus(500, "", "crontab")
		back()
		api.Merge(modulePath+"/crontab", `{"metadata":{"annotations":{"wasmgate.dev/retry":"1"}}}`).Want(200)
		there.Eventually(made, func(r *harness.Reply) bool { return r.Code == 200 })
	})
	t.Run("revoked on every gateway", func(t *testing.T) {
		api, there := first.API(t), second.API(t)
		there.Get(made).Want(200)
		api.Post(trusts, `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"revoked"},"spec":{"revokedDigests":["`+signature.Digest(module)+`"]}}`).Want(201)
		begun := time.Now()
		var last *harness.Reply
		if !harness.Poll(time.Minute, func() bool {
			last = there.Get(made)
			return last.Code != 200
		}) {
			t.Fatal("it serves still")
		}
		t.Logf("refused on the other gateway after %s", time.Since(begun))
		last.WantStatus(500, "", "Revoked", "is revoked")
		awaitTrusted(api, "crontab", "False", "Revoked", "False")
		awaitTrusted(there, "free", "False", "Revoked", "False")
		api.Delete(trusts + "/revoked").Want(200)
		there.Eventually(made, func(r *harness.Reply) bool { return r.Code == 200 })
		awaitTrusted(api, "crontab", "True", "Signed", "True")
	})
}

// TestTrustInImages has modules come from a registry that has cosign's signature beside one:
// what it lacks is told, what it has counts on every gateway, also after a start, and the
// next image needs one of its own.
func TestTrustInImages(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	api, by := first.API(t), newSigner(t)
	host, older, newer := ocitest.Start(t, nil), plugintest.Build(t, plugintest.Releases), plugintest.Build(t, plugintest.Policy)
	push := func(content []byte) string {
		return ocitest.Push(t, host+"/team/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: content})
	}
	sign := func(digest string) {
		payload := `{"critical":{"identity":{"docker-reference":"` + host + `/team/tabs"},"image":{"docker-manifest-digest":"` + digest + `"},"type":"cosign container image signature"},"optional":null}`
		one, err := by.key.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		ocitest.Push(t, host+"/team/tabs", ocitest.SignatureTag(digest), auth.Credential{}, ocitest.Signed([]byte(payload), one))
	}
	api.Post(trusts, by.policy("images", "tabs")).Want(201)
	image := push(older)
	sign(image)
	api.Post(modulePath, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"tabs"},"spec":{"source":{"oci":{"image":"`+host+`/team/tabs:v1"}}}}`).Want(201)
	pulled := func(status, reason string) {
		t.Helper()
		api.Eventually(modulePath+"/tabs", func(r *harness.Reply) bool {
			c := condition(r.Object(), "Pulled")
			return c["status"] == status && c["reason"] == reason
		})
	}
	pulled("False", "Unsigned") // as keys do not count for images yet
	api.Merge(trusts+"/images", strings.Replace(by.policy("images", "tabs"), `"key":`, `"images":true,"key":`, 1)).Want(200)
	awaitTrusted(api, "tabs", "True", "Signed", "True")
	second.Terminate(t)
	second.Restart(t)
	awaitTrusted(second.API(t), "tabs", "True", "Signed", "True")
	if r := api.Get(modulePath + "/tabs").Want(200); !r.Contains(`"signedBy":[{"authority":"release","key":`) || r.Str("status.digest") != signature.Digest(older) {
		t.Errorf("%s", r.Body)
	}
	moved := push(newer) // which nobody signed
	api.Merge(modulePath+"/tabs", `{"metadata":{"annotations":{"wasmgate.dev/retry":"1"}}}`).Want(200)
	pulled("False", "Unsigned")
	api.Get(modulePath+"/tabs").Want(200).Equal("status.digest", signature.Digest(older))
	sign(moved)
	api.Merge(modulePath+"/tabs", `{"metadata":{"annotations":{"wasmgate.dev/retry":"2"}}}`).Want(200)
	api.Eventually(modulePath+"/tabs", func(r *harness.Reply) bool { return r.Str("status.digest") == signature.Digest(newer) })
	awaitTrusted(api, "tabs", "True", "Signed", "True")
}

// TestTrustFile has a gateway follow a file, which no request changes.
func TestTrustFile(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	by, other, module := newSigner(t), newSigner(t), plugintest.Build(t, plugintest.CronTab)
	file := filepath.Join(t.TempDir(), "trust.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(by.policy("ops", "*"))
	g := harness.Start(t, harness.Options{Args: []string{"--module-trust-file", file}})
	api := g.API(t)
	newModule(t, api, "tabs")
	content(api, "tabs", module).WantStatus(422, "Invalid", `Unsigned: ModuleTrust "ops (file)"`)
	content(api, "tabs", by.sign(module)).Want(200)
	awaitTrusted(api, "tabs", "True", "Signed", "True")
	if r := api.Get(trusts).Want(200); r.Contains("ops") {
		t.Errorf("%s", r.Body)
	}
	write(other.policy("ops", "*"))
	awaitTrusted(api, "tabs", "False", "SignatureUntrusted", "False")
	write(by.policy("ops", "*"))
	awaitTrusted(api, "tabs", "True", "Signed", "True")
	write("nonsense")
	harness.Eventually(t, "the log tells of nonsense", func() bool {
		return strings.Contains(g.Log(), "cannot be read again: what it said before still counts")
	})
	g.Terminate(t)
	write(other.policy("ops", "*"))
	g.Restart(t)
	awaitTrusted(g.API(t), "tabs", "False", "SignatureUntrusted", "False")
}
