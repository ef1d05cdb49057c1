package offline_test

import (
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

type tree = keylesstest.Tree

// What an identity signed of an image counts, in each way in which cosign keeps that; what
// it signed of another does not.
func TestImagesThatAnIdentitySigned(t *testing.T) {
	s := keylesstest.New(t)
	demands := func(more tree) string {
		a := tree{"name": "ci", "images": true, "keyless": tree{"issuer": keylesstest.Issuer, "subject": keylesstest.Subject, "trustedRoot": s.TrustedRoot()}}
		for k, v := range more {
			a[k] = v
		}
		return s.JSON(tree{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": tree{"name": "one"}, "spec": tree{"authorities": []any{a}}})
	}
	content := plugintest.Echo("").Bytes()
	payload := func(digest string) []byte {
		return []byte(s.JSON(signature.Payload{Critical: signature.Critical{Type: signature.ImageType, Image: signature.Image{Digest: digest}}}))
	}
	const other = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	tagged := func(of func(digest string) string) func(name, digest string) {
		return func(name, digest string) {
			p := payload(of(digest))
			ocitest.Push(t, name, ocitest.SignatureTag(digest), auth.Credential{}, ocitest.Layer{MediaType: "application/vnd.dev.cosign.simplesigning.v1+json", Content: p, Annotations: s.BesideImage(p)})
		}
	}
	refers := func(predicate string, of func(digest string) string) func(name, digest string) {
		return func(name, digest string) {
			ocitest.Refer(t, name, digest, []byte(s.JSON(s.Envelope(s.Statement(predicate, of(digest), keylesstest.BuiltBy("https://ci.example.com"))))))
		}
	}
	itself, another := func(digest string) string { return digest }, func(string) string { return other }
	built := tree{"provenance": tree{"builders": []any{"https://ci.example.com"}}}
	for name, c := range map[string]struct {
		host    string
		more    tree
		sign    func(name, digest string)
		problem string
	}{
		"tag":                   {ocitest.Start(t, nil), nil, tagged(itself), ""},
		"tag, of another":       {ocitest.Start(t, nil), nil, tagged(another), "SignatureOfOtherContent: "},
		"list":                  {ocitest.StartReferrers(t), nil, refers(keylesstest.Signed, itself), ""},
		"list, of another":      {ocitest.StartReferrers(t), nil, refers(keylesstest.Signed, another), "SignatureOfOtherContent: "},
		"tag of a list":         {ocitest.Start(t, nil), nil, refers(keylesstest.Signed, itself), ""},
		"images do not count":   {ocitest.StartReferrers(t), tree{"images": false}, refers(keylesstest.Signed, itself), "Unsigned: "},
		"provenance":            {ocitest.StartReferrers(t), built, refers(keylesstest.Provenance, itself), ""},
		"signed, no provenance": {ocitest.StartReferrers(t), built, refers(keylesstest.Signed, itself), "ProvenanceMissing: "},
		"nothing":               {ocitest.StartReferrers(t), nil, func(string, string) {}, "Unsigned: "},
	} {
		digest := ocitest.Push(t, c.host+"/team/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: content})
		c.sign(c.host+"/team/tabs", digest)
		pulled, err := offline.Tools{}.Pull(t.Context(), workbench.Image{Name: c.host + "/team/tabs:v1"})
		if err != nil {
			t.Fatal(name, err)
		}
		is, err := offline.Tools{}.Judge(t.Context(), workbench.Judged{Trusts: file(t, "trust.yaml", demands(c.more)), Name: "tabs", Content: pulled.Content, Image: &pulled})
		if err != nil || !strings.HasPrefix(is.Problem, c.problem) || (is.Problem == "") != (c.problem == "") {
			t.Errorf("%s: %+v, %v", name, is, err)
		}
		want := workbench.Signer{Trust: "one (file)", Authority: "ci", Issuer: keylesstest.Issuer, Subject: keylesstest.Subject}
		if c.problem == "" && (len(is.SignedBy) != 1 || is.SignedBy[0] != want) {
			t.Errorf("%s: by %v", name, is.SignedBy)
		}
	}
}

// Bundles that a key made count beside images: a statement, as "cosign sign --key" refers to
// the image, or a signature of its manifest.
func TestImagesThatAKeySignedInBundles(t *testing.T) {
	s := keylesstest.New(t)
	content := plugintest.Echo("").Bytes()
	private, public := newKey(t)
	others, _ := newKey(t)
	made := func(private, text []byte) []byte {
		t.Helper()
		key, err := signature.ParsePrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		out, err := key.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	trust := s.JSON(tree{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": tree{"name": "one"}, "spec": tree{
		"authorities": []any{tree{"name": "release", "images": true, "key": string(public)}}}})
	stated := func(private []byte, digest string) tree {
		statement := s.Statement(keylesstest.Signed, digest, nil)
		return keylesstest.EnvelopeByKey(statement, made(private, keylesstest.PAE(statement)))
	}
	const other = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for name, c := range map[string]struct {
		host    string
		bundle  func(digest string, manifest []byte) tree
		problem string
	}{
		"list":        {ocitest.StartReferrers(t), func(digest string, _ []byte) tree { return stated(private, digest) }, ""},
		"tag":         {ocitest.Start(t, nil), func(digest string, _ []byte) tree { return stated(private, digest) }, ""},
		"another":     {ocitest.StartReferrers(t), func(string, []byte) tree { return stated(private, other) }, "SignatureOfOtherContent: "},
		"another key": {ocitest.StartReferrers(t), func(digest string, _ []byte) tree { return stated(others, digest) }, "SignatureUntrusted: "},
		"its manifest": {ocitest.StartReferrers(t), func(_ string, manifest []byte) tree {
			return keylesstest.ByKey(manifest, made(private, manifest))
		}, ""},
		"another manifest": {ocitest.StartReferrers(t), func(_ string, manifest []byte) tree {
			return keylesstest.ByKey(append(manifest, ' '), made(private, append(manifest, ' ')))
		}, "SignatureOfOtherContent: "},
	} {
		digest := ocitest.Push(t, c.host+"/team/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: content})
		at := workbench.Image{Name: c.host + "/team/tabs:v1"}
		before, err := offline.Tools{}.Pull(t.Context(), at)
		if err != nil {
			t.Fatal(name, err)
		}
		ocitest.Refer(t, c.host+"/team/tabs", digest, []byte(s.JSON(c.bundle(digest, before.ManifestText))))
		pulled, err := offline.Tools{}.Pull(t.Context(), at)
		if err != nil {
			t.Fatal(name, err)
		}
		is, err := offline.Tools{}.Judge(t.Context(), workbench.Judged{Trusts: file(t, "trust.yaml", trust), Name: "tabs", Content: pulled.Content, Image: &pulled})
		if err != nil || !strings.HasPrefix(is.Problem, c.problem) || (is.Problem == "") != (c.problem == "") || len(is.SignedBy) != 1 == (c.problem == "") {
			t.Errorf("%s: %+v, %v", name, is, err)
		}
	}
}
