package load_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

type tree = map[string]any

// wasmText is a module with a text in a custom section.
func wasmText(text string) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00\x00"), append([]byte{byte(len(text) + 5), 4, 't', 'e', 'x', 't'}, text...)...)
}

// converter is a module that exports the hook of conversions.
func converter() []byte {
	const export = "\x01\x10wasmgate_convert\x00\x00"
	return append([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07"), append(append([]byte{byte(len(export))}, export...), "\x0a\x04\x01\x02\x00\x0b"...)...)
}

type keyPair struct {
	private signature.PrivateKey
	signer  crypto.Signer
	public  string // PEM
}

func newKeyOf(t *testing.T, signer crypto.Signer) (k keyPair) {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		t.Fatal(err)
	}
	k.signer, k.public = signer, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	k.private, _ = signature.ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return k
}

func newECKey(t *testing.T) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newKeyOf(t, key)
}

func (k keyPair) sign(t *testing.T, content []byte, name string) signature.Signature {
	t.Helper()
	s, err := signature.Sign(content, name, k.private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signPayload signs any text.
func (k keyPair) signPayload(t *testing.T, payload string) signature.Signature {
	t.Helper()
	sum := sha256.Sum256([]byte(payload))
	s, err := k.signer.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return signature.Signature{Payload: []byte(payload), Signature: s}
}

func join(t *testing.T, content []byte, all ...signature.Signature) []byte {
	t.Helper()
	out, err := signature.Join(content, all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// section is a section of signatures that holds any text.
func section(text string) []byte {
	body := append([]byte{byte(len(signature.SectionName))}, signature.SectionName+text...)
	size := []byte{byte(len(body)&0x7f | 0x80), byte(len(body) >> 7)}
	return append(append([]byte{0}, size...), body...)
}

// scene is a module, its content, and the policies in force.
type scene struct {
	*testing.T
	good, other keyPair
	content     []byte // without a signature
	file        []byte // as it is stored
	labels      tree
	policies    []tree
	beside      []any // what registries had beside images
}

func trustOf(name string, spec tree) tree {
	return tree{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": tree{"name": name}, "spec": spec}
}

func authorityOf(name string, k keyPair) tree { return tree{"name": name, "key": k.public} }

func newScene(t *testing.T) *scene {
	s := &scene{T: t, good: newECKey(t), other: newECKey(t), content: wasmText("good"), labels: tree{"tier": "gold"}}
	s.file = join(t, s.content, s.good.sign(t, s.content, ""))
	s.demand(tree{}, s.good)
	return s
}

// demand makes one policy that demands a signature of any of keys.
func (s *scene) demand(modules tree, keys ...keyPair) {
	var all []any
	for i, k := range keys {
		all = append(all, authorityOf(string(rune('a'+i)), k))
	}
	s.policies = []tree{trustOf("one", tree{"modules": modules, "authorities": all})}
}

// sign stores the content with signatures.
func (s *scene) sign(all ...signature.Signature) { s.file = join(s.T, s.content, all...) }

func (s *scene) payload(change func(p *signature.Payload)) string {
	p := signature.Payload{Critical: signature.Critical{Image: signature.Image{Digest: signature.Digest(s.content)}, Type: signature.Type}}
	change(&p)
	text, err := json.Marshal(p)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// world has everything but the module.
func (s *scene) world() *moduleWorld {
	w := newModuleWorld()
	for _, p := range s.policies {
		controllertest.MustCreate(s.T, w.Objects, gvr.Trusts, p)
	}
	w.content.blobs[digest(string(s.file))] = s.file
	return w
}

func (s *scene) module() tree {
	return tree{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": tree{"name": "tabs", "labels": s.labels, "annotations": tree{module.ContentAnnotation: digest(string(s.file))}},
		"spec":     tree{"source": tree{"upload": tree{}}},
		"status":   tree{"pulled": tree{"image": "r/tabs:v1", "manifest": digest("m"), "digest": digest(string(s.file)), "beside": s.beside}}}
}

// wantTrusted waits for the condition, and whether anything serves.
func wantTrusted(t *testing.T, w *moduleWorld, m *memoryModules, want string, serves bool) *unstructured.Unstructured {
	t.Helper()
	var obj *unstructured.Unstructured
	got := ""
	defer func() {
		if t.Failed() {
			t.Logf("last seen: %s", got)
		}
	}()
	controllertest.Eventually(t, w.Objects, want, func() bool {
		obj = controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
		status, reason, message := controllertest.Condition(obj, module.Trusted)
		_, serving := m.get("tabs")
		got = strings.TrimSpace(status + " " + reason + " " + message)
		return strings.HasPrefix(got, want) && serving == serves
	})
	return obj
}

const (
	signed      = "True Signed"
	notDemanded = "Unknown NotDemanded"
)

// tampering is what may be done to a module, with what becomes of it.
type tampering struct {
	name string
	do   func(s *scene)
	want string
}

// TestTampering: what was tampered with does not serve, and the condition says why; the
// twins that were not serve.
func TestTampering(t *testing.T) {
	for _, c := range slices.Concat(sections(), payloads(), keys(), policies(), images(), bundles(), keyBundles()) {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			c.do(s)
			w := s.world()
			m, stop := w.start(t)
			defer stop()
			controllertest.MustCreate(t, w.Objects, gvr.Modules, s.module())
			serves := c.want == signed || c.want == notDemanded
			obj := wantTrusted(t, w, m, c.want, serves)
			if ready, reason, _ := controllertest.Condition(obj, module.Ready); !serves && (ready != "False" || reason != strings.Fields(c.want)[1]) {
				t.Errorf("Ready %s %s", ready, reason)
			}
			if by := module.StatusOf(obj).SignedBy; (len(by) > 0) != (c.want == signed) {
				t.Errorf("signed by %v", by)
			}
		})
	}
}

func sections() []tampering {
	flip := func(s *scene, at int) {
		s.file = bytes.Clone(s.file)
		s.file[at] ^= 1
	}
	return []tampering{
		{"nothing", func(*scene) {}, signed},
		{"the section is stripped", func(s *scene) { s.file = s.content }, "False Unsigned"},
		{"a byte of the module is another", func(s *scene) { flip(s, len(s.content)-1) }, "False SignatureOfOtherContent"},
		{"a byte of the section's name is another", func(s *scene) { flip(s, len(s.content)+5) }, "False Unsigned"},
		{"a byte of the section's JSON is another", func(s *scene) { flip(s, len(s.file)-1) }, "False SignatureMalformed"},
		{"a byte of the version is another", func(s *scene) { flip(s, 4) }, "False SignatureMalformed"},
		{"the section is doubled", func(s *scene) { s.file = append(s.file, s.file[len(s.content):]...) }, "False SignatureMalformed ModuleTrust \"one\" does not let it serve: its section wasmgate.signature is not the last"},
		{"a section is behind it", func(s *scene) { s.file = append(s.file, 0, 2, 1, 'x') }, "False SignatureMalformed"},
		{"a section is before it", func(s *scene) {
			s.file = append(append(bytes.Clone(s.content), 0, 2, 1, 'x'), s.file[len(s.content):]...)
		}, "False SignatureOfOtherContent"},
		{"bytes are behind it", func(s *scene) { s.file = append(s.file, 0x80) }, "False SignatureMalformed"},
		{"the end is cut", func(s *scene) { s.file = s.file[:len(s.file)-1] }, "False SignatureMalformed"},
		{"it is empty", func(s *scene) { s.file = append(bytes.Clone(s.content), section("")...) }, "False SignatureMalformed"},
		{"it has no signatures", func(s *scene) { s.file = append(bytes.Clone(s.content), section("[]")...) }, "False SignatureMalformed"},
		{"it is null", func(s *scene) { s.file = append(bytes.Clone(s.content), section("null")...) }, "False SignatureMalformed"},
		{"it has other fields", func(s *scene) { s.file = append(bytes.Clone(s.content), section(`[{"cert":"x"}]`)...) }, "False SignatureMalformed"},
		{"it has two lists", func(s *scene) { s.file = append(bytes.Clone(s.content), section("[{}][{}]")...) }, "False SignatureMalformed"},
		{"it has 17 signatures", func(s *scene) {
			s.file = append(bytes.Clone(s.content), section("["+strings.Repeat("{},", 16)+"{}]")...)
		}, "False SignatureMalformed"},
		{"it is no module", func(s *scene) { s.file = []byte("no module") }, "False SignatureMalformed"},
		{"it is another module, signed by another", func(s *scene) {
			s.content = wasmText("evil")
			s.sign(s.other.sign(s.T, s.content, ""))
		}, "False SignatureUntrusted"},
		{"its section is of another module", func(s *scene) {
			s.file = append(wasmText("evil"), s.file[len(s.content):]...)
		}, "False SignatureOfOtherContent"},
		{"it is another module, signed", func(s *scene) {
			s.content = wasmText("new")
			s.sign(s.good.sign(s.T, s.content, ""))
		}, signed},
	}
}

func payloads() []tampering {
	says := func(change func(s *scene, p *signature.Payload)) func(*scene) {
		return func(s *scene) {
			s.sign(s.good.signPayload(s.T, s.payload(func(p *signature.Payload) { change(s, p) })))
		}
	}
	return []tampering{
		{"the same payload", says(func(*scene, *signature.Payload) {}), signed},
		{"more that is optional", says(func(_ *scene, p *signature.Payload) { p.Optional = map[string]any{"creator": "ci"} }), signed},
		{"the payload is altered", func(s *scene) {
			one := s.good.sign(s.T, s.content, "")
			one.Payload = append(one.Payload, ' ')
			s.sign(one)
		}, "False SignatureUntrusted"},
		{"the type of images", says(func(_ *scene, p *signature.Payload) { p.Critical.Type = "cosign container image signature" }), `False SignaturePayloadInvalid ModuleTrust "one" does not let it serve: what was signed has the critical.type "cosign`},
		{"no type", says(func(_ *scene, p *signature.Payload) { p.Critical.Type = "" }), "False SignaturePayloadInvalid"},
		{"no digest", says(func(_ *scene, p *signature.Payload) { p.Critical.Image.Digest = "" }), "False SignatureOfOtherContent"},
		{"a short digest", says(func(_ *scene, p *signature.Payload) { p.Critical.Image.Digest = p.Critical.Image.Digest[:20] }), "False SignatureOfOtherContent"},
		{"the digest of the whole file", says(func(s *scene, p *signature.Payload) { p.Critical.Image.Digest = digest(string(s.file)) }), "False SignatureOfOtherContent"},
		{"for this module", says(func(_ *scene, p *signature.Payload) { p.Critical.Identity.Reference = "tabs" }), signed},
		{"for another module", says(func(_ *scene, p *signature.Payload) { p.Critical.Identity.Reference = "tab" }), "False SignatureForOtherModule"},
		{"no JSON", func(s *scene) { s.sign(s.good.signPayload(s.T, "trust me")) }, "False SignaturePayloadInvalid"},
		{"a list", func(s *scene) { s.sign(s.good.signPayload(s.T, "[]")) }, "False SignaturePayloadInvalid"},
		{"a payload of 17 KiB", func(s *scene) {
			s.sign(s.good.signPayload(s.T, s.payload(func(p *signature.Payload) { p.Optional = map[string]any{"a": strings.Repeat("a", 17<<10)} })))
		}, "False SignatureUntrusted"},
		{"no signature in it", func(s *scene) {
			one := s.good.sign(s.T, s.content, "")
			one.Signature = nil
			s.sign(one)
		}, "False SignatureUntrusted"},
		{"the DER is cut", func(s *scene) {
			one := s.good.sign(s.T, s.content, "")
			one.Signature = one.Signature[:len(one.Signature)-1]
			s.sign(one)
		}, "False SignatureUntrusted"},
		{"more is behind the DER", func(s *scene) {
			one := s.good.sign(s.T, s.content, "")
			one.Signature = append(one.Signature, 0)
			s.sign(one)
		}, "False SignatureUntrusted"},
		{"r and s are zero", func(s *scene) {
			one := s.good.sign(s.T, s.content, "")
			one.Signature = []byte{0x30, 6, 2, 1, 0, 2, 1, 0}
			s.sign(one)
		}, "False SignatureUntrusted"},
	}
}

func keys() []tampering {
	return []tampering{
		{"another key", func(s *scene) { s.sign(s.other.sign(s.T, s.content, "")) }, "False SignatureUntrusted"},
		{"both keys", func(s *scene) { s.sign(s.other.sign(s.T, s.content, ""), s.good.sign(s.T, s.content, "")) }, signed},
		{"the second of two keys", func(s *scene) { s.demand(tree{}, s.other, s.good) }, signed},
		{"Ed25519", func(s *scene) {
			_, key, _ := ed25519.GenerateKey(rand.Reader)
			k := newKeyOf(s.T, key)
			s.demand(tree{}, k)
			s.sign(k.sign(s.T, s.content, ""))
		}, signed},
		{"another Ed25519", func(s *scene) {
			_, key, _ := ed25519.GenerateKey(rand.Reader)
			s.demand(tree{}, newKeyOf(s.T, key))
		}, "False SignatureUntrusted"},
		{"P-384 in etcd", func(s *scene) {
			key, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
			s.demand(tree{}, newKeyOf(s.T, key))
		}, `False TrustUnreadable ModuleTrust "one" does not let it serve: spec.authorities[0].key: Invalid value: it is an ECDSA key of the curve P-384`},
		{"no PEM in etcd", func(s *scene) {
			s.policies = []tree{trustOf("one", tree{"authorities": []any{tree{"name": "a", "key": "no PEM"}}})}
		}, "False TrustUnreadable"},
	}
}

func policies() []tampering {
	add := func(s *scene, spec tree) { s.policies = append(s.policies, trustOf("two", spec)) }
	unsigned := func(modules tree) func(s *scene) {
		return func(s *scene) {
			s.file = s.content
			s.demand(modules, s.good)
		}
	}
	return []tampering{
		{"the name matches", unsigned(tree{"names": []any{"other", "ta*"}}), "False Unsigned"},
		{"the name does not", unsigned(tree{"names": []any{"other", "tab"}}), notDemanded},
		{"the labels match", unsigned(tree{"selector": tree{"matchLabels": tree{"tier": "gold"}}}), "False Unsigned"},
		{"the labels do not", unsigned(tree{"selector": tree{"matchLabels": tree{"tier": "tin"}}}), notDemanded},
		{"a label that is missing", unsigned(tree{"selector": tree{"matchExpressions": []any{tree{"key": "trusted", "operator": "DoesNotExist"}}}}), "False Unsigned"},
		{"no such operator", unsigned(tree{"selector": tree{"matchExpressions": []any{tree{"key": "a", "operator": "Like"}}}}), "False TrustUnreadable"},
		{"the hook matches", func(s *scene) {
			s.file = converter()
			s.demand(tree{"hooks": []any{"wasmgate_convert"}}, s.good)
		}, "False Unsigned"},
		{"the hook does not", func(s *scene) {
			s.file = converter()
			s.demand(tree{"hooks": []any{"wasmgate_admit"}}, s.good)
		}, notDemanded},
		{"nothing is demanded", func(s *scene) { s.policies = []tree{trustOf("one", tree{})} }, "False TrustUnreadable"},
		{"its spec is a text", func(s *scene) {
			s.policies = []tree{{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": tree{"name": "one"}, "spec": "none"}}
		}, "False TrustUnreadable"},
		{"a second one demands another key", func(s *scene) { add(s, tree{"authorities": []any{authorityOf("b", s.other)}}) }, `False SignatureUntrusted ModuleTrust "two"`},
		{"both are satisfied", func(s *scene) {
			add(s, tree{"authorities": []any{authorityOf("b", s.other)}})
			s.sign(s.other.sign(s.T, s.content, ""), s.good.sign(s.T, s.content, ""))
		}, signed},
		{"the file is revoked", func(s *scene) { add(s, tree{"revokedDigests": []any{digest(string(s.file))}}) }, "False Revoked"},
		{"what is signed is revoked", func(s *scene) { add(s, tree{"revokedDigests": []any{digest(string(s.content))}}) }, "False Revoked"},
		{"it is revoked and signed again", func(s *scene) {
			add(s, tree{"revokedDigests": []any{digest(string(s.content))}})
			s.sign(s.good.sign(s.T, s.content, "tabs"))
		}, "False Revoked"},
		{"another is revoked", func(s *scene) { add(s, tree{"revokedDigests": []any{digest("other")}}) }, signed},
		{"it is revoked for other modules", func(s *scene) {
			add(s, tree{"modules": tree{"names": []any{"other"}}, "revokedDigests": []any{digest(string(s.content))}})
		}, "False Revoked"},
		{"no digest is revoked", func(s *scene) { add(s, tree{"revokedDigests": []any{"sha256:0"}}) }, "False TrustUnreadable"},
	}
}
