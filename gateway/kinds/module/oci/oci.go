// Package oci owns how the bytes of a module are fetched from a registry: which
// artifact a reference names, which of its layers is a module, and that what
// arrives is what was named.
//
// It must not know API objects, nor what becomes of the bytes.
package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/wasmgate/wasmgate/excerpt"
)

// maxManifest bounds a manifest, in bytes; registries refuse larger ones.
const maxManifest = 4 << 20

// moduleLayers are the media types that tools give a layer that is a module.
var moduleLayers = map[string]bool{
	"application/wasm":                                  true, // the CNCF's guidance for Wasm artifacts
	"application/vnd.wasm.content.layer.v1+wasm":        true,
	"application/vnd.module.wasm.content.layer.v1+wasm": true,
}

// Artifact is a module as a registry had it.
type Artifact struct {
	// Module are the bytes of the one layer that is a module; they belong to
	// the caller.
	Module []byte
	// Manifest is the digest of the manifest that names them, "sha256:" and hex.
	Manifest string
	// ManifestText is the manifest, and Signatures are what the registry has beside it.
	ManifestText []byte
	Signatures   []Signature
	// Mirror is the location of the mirror that had it, "" for the image's own registry.
	Mirror string
}

// Reason is why nothing was fetched.
type Reason string

// The reasons of an [Error].
const (
	// ImageInvalid: the reference is not one.
	ImageInvalid Reason = "ImageInvalid"
	// ImageNotFound: the registry has no such artifact, or says so to this
	// caller.
	ImageNotFound Reason = "ImageNotFound"
	// AccessDenied: the registry wants other credentials.
	AccessDenied Reason = "AccessDenied"
	// NotAModule: the artifact has no layer that is a module, or several, or
	// one that is too large.
	NotAModule Reason = "NotAModule"
	// PullFailed: the registry was not reached, or did not keep its promises.
	PullFailed Reason = "PullFailed"
	// RegistrySilent: the registry sent nothing for half a minute.
	RegistrySilent Reason = "RegistrySilent"
	// RegistryBlocked: the operator lets nobody ask the registry, and it has no mirror.
	RegistryBlocked Reason = "RegistryBlocked"
)

// Final tells that another try brings the same.
func (r Reason) Final() bool { return r == ImageInvalid || r == NotAModule }

// Error is why nothing was fetched.
type Error struct {
	Reason Reason
	// Detail says it to people, in one line.
	Detail string
}

// Error is the reason and the detail.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Detail }

// failure tells no queries of URLs, which let in whoever knows them where registries
// redirect to.
func failure(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: oneLine(excerpt.Redacted(fmt.Sprintf(format, args...)))}
}

// Client fetches from registries. A registry on this machine (localhost) is
// asked by HTTP, unless there is an authority for it; every other by HTTPS, and so is
// every place that it sends to.
type Client struct {
	// MaxBytes bounds a module.
	MaxBytes int64
	// Transport makes the requests; [http.DefaultTransport] if it is nil.
	Transport http.RoundTripper
	// Registries say how registries are reached; nil for nothing.
	Registries *Registries
}

// Pull fetches the module that image names: HOST/NAME:TAG, or HOST/NAME@DIGEST.
// What arrives has the digests that the registry promised, and the one of the
// reference. The caller bounds the time by ctx. The error is an *[Error], or
// ctx's.
func (c Client) Pull(ctx context.Context, image string, login Login) (*Artifact, error) {
	ref, err := reference(image)
	if err != nil {
		return nil, err
	}
	places, err := c.Registries.places(ref)
	if err != nil {
		return nil, err
	}
	var failures []string
	for i, p := range places {
		artifact, err := c.pullWithin(ctx, len(places)-i, p, login)
		if err == nil {
			artifact.Mirror = p.mirror
			return artifact, nil
		}
		failed, last := (*Error)(nil), i == len(places)-1
		if !errors.As(err, &failed) || last && i == 0 {
			return nil, err
		}
		if failures = append(failures, p.ref.Registry+": "+failed.Error()); last {
			return nil, failure(failed.Reason, "%s", strings.Join(failures, "; "))
		}
	}
	return nil, failure(PullFailed, "there is nobody to ask") // places are one at least
}

// pull fetches a module from one place.
func (c Client) pull(ctx context.Context, p place, login Login) (*Artifact, error) {
	ref := p.ref
	ctx, came, stop := watched(ctx)
	defer stop()
	local := ""
	if isLoopback(ref.Host()) && p.by == nil {
		local = ref.Host()
	}
	repo := &remote.Repository{
		Client:               &auth.Client{Client: c.http(p.by, local, came), Cache: auth.NewCache(), Credential: login.credential(ref)},
		Reference:            ref,
		PlainHTTP:            local != "",
		MaxMetadataBytes:     maxManifest,
		ReferrerListMaxPages: maxPages,
	}
	manifest, text, digest, err := fetchManifest(ctx, repo)
	if err != nil {
		return nil, told(ctx, err)
	}
	layer, err := moduleLayer(manifest, c.MaxBytes)
	if err != nil {
		return nil, err
	}
	body, err := repo.Blobs().Fetch(ctx, layer)
	if err != nil {
		return nil, told(ctx, err)
	}
	defer body.Close()
	bytes, err := content.ReadAll(body, layer)
	if err != nil {
		return nil, told(ctx, fmt.Errorf("layer %s: %w", layer.Digest, err))
	}
	beside := append(signaturesOf(ctx, repo, digest), bundlesOf(ctx, repo, digest, len(text))...)
	return &Artifact{Module: bytes, Manifest: digest, ManifestText: text, Signatures: beside}, nil
}

// CheckName refuses, with an *[Error], what Pull would refuse without asking.
func CheckName(image string) error {
	_, err := reference(image)
	return err
}

// reference reads the name of an artifact, which has to name its registry and
// which of the artifacts it is.
func reference(image string) (registry.Reference, error) {
	ref, err := registry.ParseReference(image)
	if err != nil {
		return ref, failure(ImageInvalid, "%q is not HOST/NAME:TAG or HOST/NAME@DIGEST: %v", image, err)
	}
	if ref.Reference == "" {
		return ref, failure(ImageInvalid, "%q has neither a tag nor a digest; add one, for example :v1", image)
	}
	return ref, nil
}

// fetchManifest reads the manifest that the repository's reference names.
func fetchManifest(ctx context.Context, repo *remote.Repository) (m *ocispec.Manifest, text []byte, digest string, err error) {
	described, body, err := repo.Manifests().FetchReference(ctx, repo.Reference.Reference)
	if err != nil {
		return nil, nil, "", err
	}
	defer body.Close()
	switch described.MediaType {
	case ocispec.MediaTypeImageManifest, "application/vnd.docker.distribution.manifest.v2+json":
	default:
		return nil, nil, "", failure(NotAModule, "it has the media type %q, and not that of one artifact (%s)", described.MediaType, ocispec.MediaTypeImageManifest)
	}
	if described.Size > maxManifest {
		return nil, nil, "", failure(NotAModule, "its manifest has %d bytes, of %d at most", described.Size, maxManifest)
	}
	text, err = content.ReadAll(body, described)
	if err != nil {
		return nil, nil, "", fmt.Errorf("manifest %s: %w", described.Digest, err)
	}
	manifest := &ocispec.Manifest{}
	if err := json.Unmarshal(text, manifest); err != nil {
		return nil, nil, "", failure(NotAModule, "its manifest cannot be read: %v", err)
	}
	return manifest, text, described.Digest.String(), nil
}

// moduleLayer is the one layer that is a module.
func moduleLayer(manifest *ocispec.Manifest, most int64) (ocispec.Descriptor, error) {
	var found []ocispec.Descriptor
	for _, layer := range manifest.Layers {
		if moduleLayers[layer.MediaType] {
			found = append(found, layer)
		}
	}
	if len(found) != 1 {
		return ocispec.Descriptor{}, failure(NotAModule, "%d of its %d layers are modules (application/wasm), where one has to be", len(found), len(manifest.Layers))
	}
	if size := found[0].Size; size <= 0 || size > most {
		return ocispec.Descriptor{}, failure(NotAModule, "its module has %d bytes, of %d at most", size, most)
	}
	return found[0], nil
}

// told is an error of the library as an *Error.
func told(ctx context.Context, err error) error {
	var known *Error
	if errors.As(err, &known) || ctx.Err() != nil && context.Cause(ctx) == context.Canceled {
		return err
	}
	if errors.Is(context.Cause(ctx), errSilent) {
		return failure(RegistrySilent, "%v", errSilent)
	}
	reason := PullFailed
	var answer *errcode.ErrorResponse
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		err = errSlow
	case errors.Is(err, errdef.ErrNotFound):
		reason = ImageNotFound
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		reason = AccessDenied
	case errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		reason = AccessDenied
	}
	return failure(reason, "%v", err)
}

// maxDetail bounds what is told of the words of a registry.
const maxDetail = 1024

// oneLine is a text that a terminal shows and does not obey.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(excerpt.Of(s, maxDetail), ""), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// http follows redirects, which registries use for layers. base makes the requests, nil
// for what does by default; local is the host and port of a registry on this machine that
// is asked by HTTP, "" for another; came is called whenever something comes.
func (c Client) http(base http.RoundTripper, local string, came func()) *http.Client {
	if base == nil {
		base = c.Transport
	}
	if base == nil {
		base = http.DefaultTransport
	}
	return &http.Client{Transport: private{base: heard{base, came}, local: local}}
}

// private makes no request that others can read, or get in the registry's place:
// by HTTP only a registry on this machine is asked, and nothing that one sends to,
// for a token or a layer.
type private struct {
	base  http.RoundTripper
	local string
}

// RoundTrip implements [http.RoundTripper].
func (p private) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && (p.local == "" || r.URL.Host != p.local) {
		return nil, fmt.Errorf("the registry sends to %s, which is asked without HTTPS", r.URL.Redacted())
	}
	return p.base.RoundTrip(r)
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
