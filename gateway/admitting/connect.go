package admitting

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/webhook"
)

// connector makes callers of webhooks.
type connector struct{ module ModuleCall }

// connect implements [admission.Dial]: a module is called in this process,
// anything else over HTTPS.
func (c connector) connect(config admissionv1.WebhookClientConfig) (admission.Caller, error) {
	out := webhook.Config{CABundle: config.CABundle, MaxReplyBytes: admission.MaxReplyBytes, UserAgent: "wasmgate-admission"}
	if config.URL != nil {
		if name, ok := crd.ModuleName(*config.URL); ok {
			return module{name, c.module}, nil
		}
		out.URL = *config.URL
	}
	if s := config.Service; s != nil {
		out.Service = webhook.ServiceOf(s.Namespace, s.Name, s.Path, s.Port)
	}
	client, err := webhook.New(out)
	if err != nil {
		return nil, err
	}
	return server{client}, nil
}

// server is a webhook that is an HTTPS server.
type server struct{ client *webhook.Client }

// Call implements [admission.Caller].
func (s server) Call(ctx context.Context, review []byte, accept func(reply []byte) error) error {
	reply, err := s.client.Post(ctx, review)
	if err != nil {
		return err
	}
	return accept(reply)
}

// module is a webhook that is a module.
type module struct {
	name string
	call ModuleCall
}

// Call implements [admission.Caller].
func (m module) Call(ctx context.Context, review []byte, accept func(reply []byte) error) error {
	return m.call(ctx, m.name, review, accept)
}

// Spares implements [admission.Sparer]: a module has no say in its own
// replacement, which one that fails at everything would not survive.
func (m module) Spares(r *admission.Request) bool {
	return r.Resource.GroupResource() == gvr.Modules && r.Name == m.name
}
