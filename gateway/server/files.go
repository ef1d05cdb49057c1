package server

import (
	"context"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/audit"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/authz/structured"
	"github.com/wasmgate/wasmgate/gateway/kinds/all"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/server/identity"
	"github.com/wasmgate/wasmgate/gateway/server/storagebackend"
)

// look refuses files of flags that cannot be used, before anything is made: what would
// be refused later, too, when they are read to be used.
func look(ctx context.Context, g *gateway) error {
	o := g.options
	asked := "authorization-config"
	if o.Authorization.ConfigFile == "" {
		asked = "authorization-webhook-config-file"
	}
	return options.Look(slices.Concat(identity.Files(o), all.Files(o), auditFiles(o.Audit), []options.File{
		{Flag: "etcd-cafile", Paths: []string{o.EtcdCAFile, o.EtcdCertFile, o.EtcdKeyFile}, Look: func() error { return storagebackend.LookAtFiles(o) }},
		{Flag: asked, Paths: []string{o.Authorization.ConfigFile, o.Authorization.Webhook.ConfigFile}, Look: func() error {
			c, err := authorization(o, g.name, modes(authz.Always(false)))
			if err != nil {
				return err
			}
			return structured.Look(c)
		}},
		{Flag: "admission-control-config-file", Paths: []string{o.AdmissionControlConfigFile}, Look: func() error {
			builtins, err := g.builtins()
			if err != nil {
				return err
			}
			_, err = guards.New(ctx, guarding(o, builtins, func(string, *guards.State, error) {}))
			return err
		}},
	}), o.DataDir)
}

func auditFiles(o options.Audit) []options.File {
	return []options.File{
		{Flag: "audit-policy-file", Paths: []string{o.PolicyFile}, Look: func() error {
			_, err := audit.LoadPolicy(o.PolicyFile)
			return err
		}},
		{Flag: "audit-webhook-config-file", Paths: []string{o.WebhookConfigFile}, Look: (&audit.Server{Kubeconfig: o.WebhookConfigFile}).Look},
	}
}
