package admitting

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// hooks are the webhooks of one kind of configuration.
type hooks struct {
	stored *source[[]*webhook.Hook, *webhook.Set]
	// fixed are those of the folder.
	fixed *fixed[*webhook.Set]
}

func mutatingHooks(c *catalog.Catalog, folder *guards.Folder, connect webhook.Dial, log zerolog.Logger) *hooks {
	return newHooks(c, folder, log, "MutatingWebhookConfiguration", howHooks(true, func(m *admissionv1.MutatingWebhookConfiguration) []*webhook.Hook {
		return webhook.Mutating(m, connect)
	}))
}

func validatingHooks(c *catalog.Catalog, folder *guards.Folder, connect webhook.Dial, log zerolog.Logger) *hooks {
	return newHooks(c, folder, log, "ValidatingWebhookConfiguration", howHooks(false, func(v *admissionv1.ValidatingWebhookConfiguration) []*webhook.Hook {
		return webhook.Validating(v, connect)
	}))
}

func newHooks(c *catalog.Catalog, folder *guards.Folder, log zerolog.Logger, kind string, h how[[]*webhook.Hook, *webhook.Set]) *hooks {
	return &hooks{newSource(c, strings.ToLower(kind)+"s", log, h), fixedHooks(folder, kind, h)}
}

// about are the webhooks that may match a request; nil when there are none.
func (h *hooks) about(ctx context.Context, a admission.Attributes) []*webhook.Hook {
	return both(h.fixed.now(), a, isConfiguration(a), func() []*webhook.Hook {
		if c := h.stored.now(ctx); c != nil {
			return c.all.About(a)
		}
		return nil
	})
}

func howHooks[T any](mutating bool, compile func(*T) []*webhook.Hook) how[[]*webhook.Hook, *webhook.Set] {
	return how[[]*webhook.Hook, *webhook.Set]{
		compile: func(data []byte) ([]*webhook.Hook, error) { return decoded(data, compile) },
		refuse: func(name string, cause error) []*webhook.Hook {
			return []*webhook.Hook{webhook.Unusable(name, mutating, cause)}
		},
		all: func(all [][]*webhook.Hook) *webhook.Set { return webhook.NewSet(slices.Concat(all...)) },
	}
}

// decoded makes something of an object that was written by this API.
func decoded[T, R any](data []byte, use func(*T) R) (out R, err error) {
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return out, err
	}
	return use(object), nil
}
