package admitting

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	webhookclient "github.com/wasmgate/wasmgate/webhook"
)

// connector makes callers of webhooks.
type connector struct {
	module ModuleCall
	// shown is what servers know the gateway by.
	shown *guards.Credentials
}

// connect implements [webhook.Dial]: a module is called in this process,
// anything else over HTTPS.
func (c connector) connect(config admissionv1.WebhookClientConfig) (webhook.Caller, error) {
	out := webhookclient.Config{CABundle: config.CABundle, MaxReplyBytes: webhook.MaxReplyBytes, UserAgent: "wasmgate-admission"}
	if config.URL != nil {
		if name, ok := crd.ModuleName(*config.URL); ok {
			return module{name, c.module}, nil
		}
		out.URL = *config.URL
	}
	if s := config.Service; s != nil {
		out.Service = webhookclient.ServiceOf(s.Namespace, s.Name, s.Path, s.Port)
	}
	if user := c.shown.For(hostOf(out)); user != nil {
		out.Wrap = user.Wrap
		if user.HasCertificate() {
			out.Certificate = user.Certificate
		}
	}
	client, err := webhookclient.New(out)
	if err != nil {
		return nil, err
	}
	return server{client}, nil
}

// hostOf is the host and the port of a server, "" where there is none.
func hostOf(c webhookclient.Config) string {
	host, port := "", ""
	if s := c.Service; s != nil {
		host = s.Name + "." + s.Namespace + ".svc"
		if s.Port != 0 {
			port = strconv.Itoa(int(s.Port))
		}
	} else if u, err := url.Parse(c.URL); err == nil {
		host, port = u.Hostname(), u.Port()
	}
	if host == "" {
		return ""
	}
	return net.JoinHostPort(host, cmp.Or(port, "443"))
}

// server is a webhook that is an HTTPS server.
type server struct{ client *webhookclient.Client }

// Call implements [webhook.Caller].
func (s server) Call(ctx context.Context, review []byte, accept func(reply []byte) error) (string, error) {
	reply, err := s.client.Post(ctx, review)
	if err != nil {
		return "", err
	}
	return "", accept(reply)
}

// module is a webhook that is a module.
type module struct {
	name string
	call ModuleCall
}

// Call implements [webhook.Caller].
func (m module) Call(ctx context.Context, review []byte, accept func(reply []byte) error) (by string, err error) {
	return m.call(ctx, m.name, review, accept)
}

// Spares implements [webhook.Sparer]: a module has no say in its own
// replacement, which one that fails at everything would not survive.
func (m module) Spares(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == gvr.Modules && a.GetName() == m.name
}
