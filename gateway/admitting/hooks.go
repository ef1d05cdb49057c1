package admitting

import (
	"encoding/json"
	"slices"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// hooks are the webhooks of one kind of configuration.
type hooks = source[[]*webhook.Hook, *webhook.Set]

func mutatingHooks(c *catalog.Catalog, connect webhook.Dial, log zerolog.Logger) *hooks {
	return newSource(c, "mutatingwebhookconfigurations", log, howHooks(true, func(m *admissionv1.MutatingWebhookConfiguration) []*webhook.Hook {
		return webhook.Mutating(m, connect)
	}))
}

func validatingHooks(c *catalog.Catalog, connect webhook.Dial, log zerolog.Logger) *hooks {
	return newSource(c, "validatingwebhookconfigurations", log, howHooks(false, func(v *admissionv1.ValidatingWebhookConfiguration) []*webhook.Hook {
		return webhook.Validating(v, connect)
	}))
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
