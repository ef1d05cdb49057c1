package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func newModuleLogs() *cobra.Command {
	var client clientFlags
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print what a module wrote last",
		Long: "Print what a module wrote to its standard error and logged last, on the gateway\n" +
			"that answers: each keeps what its own instances wrote, since it started.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := client.connect(cmd)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), client.timeout)
			defer cancel()
			gateway, err := modulesClient(cfg)
			if err != nil {
				return err
			}
			result := gateway.Get().Resource(modules.Resource).Name(args[0]).SubResource("log").Do(ctx)
			if err := result.Error(); err != nil { // says more than Raw's
				return noModules(err)
			}
			text, err := result.Raw()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	client.add(cmd, time.Minute)
	return cmd
}

// modulesClient asks about modules what is no object.
func modulesClient(cfg *rest.Config) (*rest.RESTClient, error) {
	cfg = rest.CopyConfig(cfg)
	version := modules.GroupVersion()
	cfg.GroupVersion, cfg.APIPath, cfg.NegotiatedSerializer = &version, "/apis", scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(cfg)
}
