package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func newModuleLogs() *cobra.Command {
	var client clientFlags
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the last log lines of a module",
		Long: "Print the last lines that a module logged or wrote to its standard error. Each gateway\n" +
			"keeps the lines of its own instances since its start; the gateway that answers this\n" +
			"request prints its own.",
		Args:              arguments(1, 1),
		ValidArgsFunction: client.completeModule,
		RunE: func(cmd *cobra.Command, args []string) error {
			return client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
				client, err := modulesClient(cfg)
				if err != nil {
					return err
				}
				text, err := answer(args[0], client.Get().Resource(modules.Resource).Name(args[0]).SubResource("log").Do(ctx))
				if err != nil {
					return err
				}
				if len(text) == 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "wasmmodule/%s wrote nothing on the gateway that answers, since that started\n", args[0])
				}
				_, err = cmd.OutOrStdout().Write(text)
				return err
			})
		},
	}
	client.add(cmd, time.Minute)
	return cmd
}

// answer is what was answered about a module.
func answer(name string, result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil { // says more than Raw's
		return nil, noModule(name, err)
	}
	return result.Raw()
}

// modulesClient asks about modules what is no object.
func modulesClient(cfg *rest.Config) (*rest.RESTClient, error) {
	cfg = rest.CopyConfig(cfg)
	version := modules.GroupVersion()
	cfg.GroupVersion, cfg.APIPath, cfg.NegotiatedSerializer = &version, "/apis", scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(cfg)
}
