package module

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// maxKeptConfig bounds the configuration that is copied into the status: the
// largest that a module with a schema takes.
const maxKeptConfig = 64 << 10

// earlierKept is the annotation in which earlier gateways kept a configuration.
// It is believed only of a module whose status is theirs, too.
const earlierKept = "wasmgate.dev/kept-revision"

// KeptConfiguration is how a revision that serves is configured, in the status,
// where the spec may say otherwise.
type KeptConfiguration struct {
	// Digest is the digest of its content.
	Digest string `json:"digest"`
	// Config is the text of the JSON.
	Config string `json:"config,omitempty"`
	// The limits; 0 is the default.
	Memory       int64 `json:"memory,omitempty"`
	ResponseSize int64 `json:"responseSize,omitempty"`
	Fuel         int64 `json:"fuel,omitempty"`
	// Timeout is in nanoseconds.
	Timeout int64 `json:"timeout,omitempty"`
}

// Keep is the configuration of a revision; nil when that is too much.
func Keep(rev plugins.Revision) *KeptConfiguration {
	if len(rev.Config) > maxKeptConfig {
		return nil
	}
	return &KeptConfiguration{
		Digest: rev.Digest, Config: string(rev.Config),
		Memory: rev.Limits.MemoryBytes, ResponseSize: rev.Limits.ResponseBytes, Fuel: rev.Limits.Fuel, Timeout: int64(rev.Limits.Timeout),
	}
}

// apply configures a revision.
func (k *KeptConfiguration) apply(rev *plugins.Revision) {
	if k.Config != "" {
		rev.Config = []byte(k.Config)
	}
	rev.Limits = plugins.Limits{MemoryBytes: k.Memory, ResponseBytes: k.ResponseSize, Fuel: k.Fuel, Timeout: time.Duration(k.Timeout)}
}

// LastGood is the revision that served before, without its bytes. Its
// configuration is the present one unless another was kept.
func LastGood(obj *unstructured.Unstructured) (rev plugins.Revision, ok bool) {
	status := StatusOf(obj)
	if status.Digest == "" || Unproven(obj, status) {
		return rev, false
	}
	rev.Digest, rev.Attempt = status.Digest, obj.GetAnnotations()[RetryAnnotation]
	if kept := status.KeptOf(obj); kept != nil && kept.Digest == rev.Digest {
		kept.apply(&rev)
		return rev, true
	}
	spec := gvr.Section(obj, "spec")
	limits, _ := spec["limits"].(map[string]any)
	var err error
	if rev.Config, err = configOf(spec); err != nil {
		return rev, false
	}
	if rev.Limits, err = parseLimits(limits); err != nil {
		rev.Limits = plugins.Limits{} // the defaults, as the present ones are what is bad
	}
	return rev, true
}

// Serving is the revision that serves, or served last, without its bytes unless they
// are inline; ok is false where nothing did, and while the spec has changed and no
// gateway has said yet how what serves is configured.
func Serving(obj *unstructured.Unstructured, digestOf func([]byte) string) (rev plugins.Revision, ok bool) {
	accepted := StatusOf(obj).Accepted
	is := func(rev plugins.Revision) bool { return accepted == "" || accepted == RevisionName(rev) }
	if wanted, unusable := Wanted(obj, digestOf); unusable == nil && StatusOf(obj).Digest == wanted.Digest && is(*wanted) {
		return *wanted, true
	}
	rev, ok = LastGood(obj)
	return rev, ok && is(rev)
}

// Unproven tells that an earlier gateway says what serves, of an image: it
// believed of whom it may be from whatever an annotation said.
func Unproven(obj *unstructured.Unstructured, status Status) bool {
	image, ok := Image(obj)
	if !ok || status.Accepted != "" || status.Digest == "" {
		return false
	}
	return status.Pulled == nil || status.Pulled.Image != image || status.Pulled.Digest != status.Digest
}

// KeptOf is what is kept of the revision that serves, nil for nothing.
func (s Status) KeptOf(obj *unstructured.Unstructured) *KeptConfiguration {
	if s.Kept != nil || s.Accepted != "" {
		return s.Kept
	}
	var earlier struct {
		Digest string          `json:"digest"`
		Config json.RawMessage `json:"config"`
		Limits plugins.Limits  `json:"limits"`
	}
	if json.Unmarshal([]byte(obj.GetAnnotations()[earlierKept]), &earlier) != nil {
		return nil
	}
	return Keep(plugins.Revision{Digest: earlier.Digest, Config: earlier.Config, Limits: earlier.Limits})
}
