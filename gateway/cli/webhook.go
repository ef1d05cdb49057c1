package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// WebhookRunner serves webhooks until ctx ends, then stops in good order. It calls
// started once, when they are served.
type WebhookRunner func(ctx context.Context, o options.Webhooks, log zerolog.Logger, started func(options.WebhookStarted)) error

func newWebhook(run WebhookRunner) *cobra.Command {
	o := options.DefaultWebhooks()
	var l logOptions
	cmd := &cobra.Command{
		Use:   "webhook FILE... [flags]",
		Short: "Serve modules and rules as webhooks to another API server",
		Long: "Serve modules and ConversionRules in files, or folders with some, to a kube-apiserver:\n" +
			"as conversion webhooks at /convert/NAME, and as admission webhooks at /admit/NAME.\n" +
			"NAME is that of the file without .wasm, or of the object. Changed files are loaded\n" +
			"without a restart. While one of them has an error, no change is applied.",
		Example: "  wasmgate webhook crontab.wasm\n" +
			"  wasmgate webhook modules/ --bind-address 0.0.0.0 --host wasmgate.system.svc --inject annotated",
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			o.Files = args
			log, err := l.begin(errors.Join(o.Validate(), lookForFiles(cmd.Flags(), ""), lookForAll(args)), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return run(cmd.Context(), o, log, func(s options.WebhookStarted) { fmt.Fprint(cmd.OutOrStdout(), s) })
		},
	}
	addGroups(cmd, webhookServing(&o), webhookBundles(&o), webhookModules(&o), logFlags(&l))
	return cmd
}

func webhookServing(o *options.Webhooks) flagGroup {
	f := newGroup("Serving")
	f.StringVar(&o.DataDir, "data-dir", o.DataDir, "`directory` for certificates and compiled modules; each process needs its own")
	f.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP `address` to listen on; 0.0.0.0 means all")
	f.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "`port` to listen on; 0 picks a free one and prints it")
	f.StringSliceVar(&o.Hosts, "host", nil, "`name` or address by which the API server reaches this server, such as SERVICE.NAMESPACE.svc; may be set more than once")
	f.StringVar(&o.TLSCertFile, "tls-cert-file", "", "PEM `file` with the serving certificate and its chain, read again when it changes (default a certificate of its own authority)")
	f.StringVar(&o.TLSPrivateKeyFile, "tls-private-key-file", "", "PEM `file` with the private key of --tls-cert-file")
	f.IntVar(&o.MaxRequestBodyBytes, "max-request-body", o.MaxRequestBodyBytes, "the largest request body in `bytes`; all bodies that are held at a time may have eight times as much")
	f.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay, "how long calls are still answered after SIGTERM, while /readyz already fails")
	return f
}

func webhookBundles(o *options.Webhooks) flagGroup {
	f := newGroup("Bundles")
	f.StringVar(&o.Inject, "inject", "", "write the caBundle of this server into CustomResourceDefinitions and webhook configurations: `"+options.Annotated+"` for those with the annotation wasmgate.dev/inject-ca: \"true\", or a selector of labels")
	f.StringVar(&o.TLSCAFile, "tls-ca-file", "", "PEM `file` with the authorities that verify --tls-cert-file, which become the caBundle (default that file itself)")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the API server, for --inject (default KUBECONFIG, the account of the pod, or ~/.kube/config)")
	return f
}

func webhookModules(o *options.Webhooks) flagGroup {
	f := newGroup("Modules")
	moduleMemory(f, &o.ModuleIdleMemory, &o.ModuleCompileMemory, &o.ModuleCompileTime)
	return f
}
