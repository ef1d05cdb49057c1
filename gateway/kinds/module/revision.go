package module

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// Refusal is why a revision cannot serve, in the words of a condition.
type Refusal struct {
	Reason  string
	Message string
	// Expected: it is on its way, as nothing went wrong that is known.
	Expected bool
}

// Wanted is the revision that the object asks for. Bytes are set for
// an inline source only, whose digest digestOf computes.
func Wanted(obj *unstructured.Unstructured, digestOf func([]byte) string) (*plugins.Revision, *Refusal) {
	spec := gvr.Section(obj, "spec")
	source, _ := spec["source"].(map[string]any)
	rev := &plugins.Revision{Attempt: obj.GetAnnotations()[RetryAnnotation]}
	inline, hasInline := source["inline"].(string)
	upload, hasUpload := source["upload"]
	image, hasImage := Image(obj)
	switch {
	case len(source) > 1:
		return nil, &Refusal{Reason: "SourceInvalid", Message: "spec.source must have exactly one of inline, upload and oci"}
	case hasInline:
		bytes, err := base64.StdEncoding.DecodeString(inline)
		if err != nil {
			return nil, &Refusal{Reason: "SourceInvalid", Message: "spec.source.inline: " + err.Error()}
		}
		rev.Bytes, rev.Digest = bytes, digestOf(bytes)
	case hasUpload:
		if rev.Digest = PinnedDigest(upload); rev.Digest == "" {
			rev.Digest = obj.GetAnnotations()[ContentAnnotation]
		}
		if rev.Digest == "" {
			return nil, &Refusal{Reason: "ContentMissing", Message: UploadHint(obj.GetName()), Expected: true}
		}
	case hasImage:
		pulled, ok := PulledOf(obj)
		if !ok || pulled.Image != image {
			return nil, notPulled(obj, image)
		}
		rev.Digest = pulled.Digest
	default:
		return nil, &Refusal{Reason: "SourceNotSupported", Message: "spec.source must have inline, upload or oci; nothing else is supported"}
	}
	var err error
	if rev.Config, err = configOf(spec); err != nil {
		return nil, &Refusal{Reason: "ConfigInvalid", Message: err.Error()}
	}
	if Promotes(obj) && len(rev.Config) > maxKeptConfig { // after a restart nobody would know which was promoted
		return nil, &Refusal{Reason: "ConfigInvalid", Message: fmt.Sprintf("spec.config: it has %d bytes; with spec.rollout: %s at most %d are allowed", len(rev.Config), shadowRollout, maxKeptConfig)}
	}
	limits, _ := spec["limits"].(map[string]any)
	if rev.Limits, err = parseLimits(limits); err != nil {
		return nil, &Refusal{Reason: "LimitsInvalid", Message: err.Error()}
	}
	return rev, nil
}

// GrantsOf are the objects that the module may look up; none if they cannot be
// read.
func GrantsOf(obj *unstructured.Unstructured) []plugins.Grant {
	var spec struct {
		Grants []plugins.Grant `json:"grants"`
	}
	data, err := json.Marshal(map[string]any{"grants": gvr.Section(obj, "spec")["grants"]})
	if err != nil || json.Unmarshal(data, &spec) != nil {
		return nil
	}
	return spec.Grants
}

// LimitsOf are the limits that a module sets; none if one of them is wrong, as it does not
// serve then.
func LimitsOf(obj *unstructured.Unstructured) plugins.Limits {
	limits, _ := gvr.Section(obj, "spec")["limits"].(map[string]any)
	out, _ := parseLimits(limits)
	return out
}

// PinnedDigest is the digest of the only content that a spec.source.upload
// allows, "" when it allows any.
func PinnedDigest(upload any) string {
	fields, _ := upload.(map[string]any)
	digest, _ := fields["digest"].(string)
	return digest
}

// Identity is the same for revisions that behave the same, in one attempt.
func Identity(r plugins.Revision) string {
	return fmt.Sprintf("%s config=%s limits=%+v attempt=%q", r.Digest, r.Config, r.Limits, r.Attempt)
}

// UploadHint tells how content comes into the store.
func UploadHint(name string) string {
	return fmt.Sprintf("upload it with: wasmgate module push %s file.wasm", name)
}

func configOf(spec map[string]any) ([]byte, error) {
	config, ok := spec["config"]
	if !ok || config == nil {
		return nil, nil
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("spec.config: %w", err)
	}
	return text, nil
}

// parseLimits reads spec.limits and names every field that is wrong.
func parseLimits(limits map[string]any) (plugins.Limits, error) {
	var (
		l    plugins.Limits
		errs []error
	)
	bytes := func(field string, into *int64) {
		value, ok := limits[field]
		if !ok || value == nil {
			return
		}
		q, err := resource.ParseQuantity(scalar(value))
		if n := q.Value(); err != nil || n <= 0 || n == math.MaxInt64 || q.CmpInt64(n) != 0 { // Value rounds, parsing clamps
			errs = append(errs, fmt.Errorf("spec.limits.%s: %q is not a whole number of bytes above zero", field, scalar(value)))
		} else {
			*into = n
		}
	}
	bytes("memory", &l.MemoryBytes)
	bytes("responseSize", &l.ResponseBytes)
	if value, ok := limits["timeout"]; ok && value != nil {
		d, err := time.ParseDuration(scalar(value))
		if err != nil || d <= 0 {
			errs = append(errs, fmt.Errorf("spec.limits.timeout: %q is not a duration above zero such as 500ms", scalar(value)))
		} else {
			l.Timeout = d
		}
	}
	if value, ok := limits["fuel"]; ok && value != nil {
		n, ok := wholeNumber(value)
		if !ok || n < 0 {
			errs = append(errs, fmt.Errorf("spec.limits.fuel: %q is not a whole number", scalar(value)))
		} else {
			l.Fuel = n
		}
	}
	if len(errs) > 0 {
		return plugins.Limits{}, errors.Join(errs...)
	}
	return l, nil
}

// scalar prints a JSON scalar the way it was written.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

func wholeNumber(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return 0, false
}
