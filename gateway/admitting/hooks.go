package admitting

import (
	"encoding/json"
	"slices"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// hooks are the webhooks of one kind of configuration.
type hooks = source[[]*admission.Hook, *admission.Set]

func mutatingHooks(c *catalog.Catalog, connect admission.Dial, log zerolog.Logger) *hooks {
	return newSource(c, "mutatingwebhookconfigurations", log, howHooks(true, func(m *admissionv1.MutatingWebhookConfiguration) []*admission.Hook {
		return admission.Mutating(m, connect)
	}))
}

func validatingHooks(c *catalog.Catalog, connect admission.Dial, log zerolog.Logger) *hooks {
	return newSource(c, "validatingwebhookconfigurations", log, howHooks(false, func(v *admissionv1.ValidatingWebhookConfiguration) []*admission.Hook {
		return admission.Validating(v, connect)
	}))
}

func howHooks[T any](mutating bool, compile func(*T) []*admission.Hook) how[[]*admission.Hook, *admission.Set] {
	return how[[]*admission.Hook, *admission.Set]{
		compile: func(data []byte) ([]*admission.Hook, error) { return decoded(data, compile) },
		refuse: func(name string, cause error) []*admission.Hook {
			return []*admission.Hook{admission.Unusable(name, mutating, cause)}
		},
		all: func(all [][]*admission.Hook) *admission.Set { return admission.NewSet(slices.Concat(all...)) },
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
