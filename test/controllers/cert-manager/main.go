//go:build ignore

// Command cert-manager runs cert-manager's controllers and its webhook in one process. It owns which of
// them run and how they start, as cert-manager's own commands are modules that nobody publishes;
// cert-manager.sh puts this file into the source of the module that is. It must not know anything of wasmgate.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/metrics"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/logs"
)

func main() {
	flags := flag.NewFlagSet("cert-manager", flag.ExitOnError) // libraries have flags of their own
	kubeconfig := flags.String("kubeconfig", "", "of the server")
	port := flags.Int("port", 0, "of the webhook")
	must(flags.Parse(os.Args[1:]))
	logs.InitLogs()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go serveWebhook(ctx, *kubeconfig, int32(*port))
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:    *kubeconfig,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		CertificateOptions: controller.CertificateOptions{
			EnableOwnerRef:                           true,
			CopiedAnnotationPrefixes:                 []string{"*"},
			CertificateRequestMinimumBackoffDuration: time.Second,
			CertificateRequestMaximumBackoffDuration: time.Minute,
		},
	})
	must(err)
	shared, err := factory.Build()
	must(err)
	for name, construct := range controller.Known() {
		if slices.Contains([]string{"challenges", "orders", "certificates-metrics"}, name) {
			continue
		}
		c, err := construct(factory)
		must(err)
		go func() { must(c.Run(2, ctx)) }()
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	<-ctx.Done()
}

func serveWebhook(ctx context.Context, kubeconfig string, port int32) {
	opts := config.WebhookConfiguration{}
	opts.KubeConfig, opts.SecurePort = kubeconfig, port
	opts.TLSConfig.Filesystem.CertFile, opts.TLSConfig.Filesystem.KeyFile = "certs/tls.crt", "certs/tls.key"
	server, err := webhook.NewCertManagerWebhookServer(logs.Log, opts)
	must(err)
	must(server.Run(ctx))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
