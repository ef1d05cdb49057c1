package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// The annotations by which who audits a request learns which webhooks were asked, in which
// round and at which place in the order: what those that mutate did, which failed and were
// ignored, by kube-apiserver's names; and which content of modules answered.
const (
	mutationKey       = "mutation.webhook.admission.k8s.io/"
	patchKey          = "patch.webhook.admission.k8s.io/"
	openMutatingKey   = "failed-open." + mutationKey
	openValidatingKey = "failed-open.validating.webhook.admission.k8s.io/"
	mutatedByKey      = "mutation.module.wasmgate.dev/"
	validatedByKey    = "validation.module.wasmgate.dev/"
)

// place is where in the order of a request a webhook was asked.
type place struct{ round, index int }

func (p place) key(prefix string) string {
	return fmt.Sprintf("%sround_%d_index_%d", prefix, p.round, p.index)
}

// told is what an annotation says, in the order of kube-apiserver's fields.
type told struct {
	Configuration string                       `json:"configuration"`
	Webhook       string                       `json:"webhook"`
	Mutated       *bool                        `json:"mutated,omitempty"`
	Patch         []map[string]json.RawMessage `json:"patch,omitempty"`
	PatchType     string                       `json:"patchType,omitempty"`
	Digest        string                       `json:"digest,omitempty"`
	SignedBy      []string                     `json:"signedBy,omitempty"`
}

// note annotates a request.
func (r *dispatch) note(key string, h *Hook, t told) {
	t.Configuration, t.Webhook = h.Configuration, h.Name
	if text, err := json.Marshal(t); err == nil {
		r.Annotate(key, string(text))
	}
}

// mutated notes what a webhook did: the patch that it had applied, whether that changed
// anything, and who answered.
func (r *dispatch) mutated(ctx context.Context, h *Hook, at place, changed bool, a answered) {
	any, bodies := r.Annotates()
	if !any {
		return
	}
	r.note(at.key(mutationKey), h, told{Mutated: &changed})
	var patch []map[string]json.RawMessage
	if bodies && a.patch != nil && json.Unmarshal(a.patch, &patch) == nil {
		r.note(at.key(patchKey), h, told{Patch: patch, PatchType: "JSONPatch"})
	}
	r.by(ctx, at.key(mutatedByKey), h, a.by)
}

// by notes which content of a module answered, and who vouches for it.
func (r *dispatch) by(ctx context.Context, key string, h *Hook, digest string) {
	if digest != "" {
		r.note(key, h, told{Digest: digest, SignedBy: r.Signers(ctx, h, digest)})
	}
}

// open notes that a webhook failed, which is ignored.
func (r *dispatch) open(prefix string, h *Hook, at place, err error) {
	if any, _ := r.Annotates(); any && !errors.Is(err, context.Canceled) {
		r.Annotate(at.key(prefix), h.Name)
	}
}
