package options

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Annotated is the value of [Webhooks].Inject that means objects with an annotation, and
// not those that labels select.
const Annotated = "annotated"

// Webhooks is the configuration of `wasmgate webhook`.
type Webhooks struct {
	// Files are modules and rules, or folders with some.
	Files []string
	// DataDir keeps the certificates, and modules as they were compiled.
	DataDir     string
	BindAddress string
	SecurePort  int
	// Hosts are names and addresses of the server beside those of this machine.
	Hosts []string
	// TLSCertFile and TLSPrivateKeyFile are the operator's certificate; empty means one
	// of an authority that is made. TLSCAFile verifies the former.
	TLSCertFile, TLSPrivateKeyFile, TLSCAFile string

	// Inject says into which objects the bundle that verifies the certificate is
	// written: empty for none, [Annotated], or a selector of labels. Kubeconfig is how
	// the API is reached; empty means as kubectl does, and in a pod by its account.
	Inject, Kubeconfig string

	MaxRequestBodyBytes int
	ShutdownDelay       time.Duration
	// The others are as in [Serve].
	ModuleIdleMemory    int64
	ModuleCompileMemory int64
	ModuleCompileTime   time.Duration
}

// DefaultWebhooks returns the configuration of `wasmgate webhook` without flags.
func DefaultWebhooks() Webhooks {
	serve := Default()
	return Webhooks{
		DataDir: "wasmgate-webhook", BindAddress: serve.BindAddress, SecurePort: 9443, MaxRequestBodyBytes: 32 << 20,
		ModuleIdleMemory: serve.ModuleIdleMemory, ModuleCompileMemory: serve.ModuleCompileMemory, ModuleCompileTime: serve.ModuleCompileTime,
	}
}

// Validate names every setting that is wrong, by its flag.
func (w Webhooks) Validate() error {
	var errs []error
	bad := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s %s", flag, fmt.Sprintf(format, args...)))
	}
	if len(w.Files) == 0 {
		errs = append(errs, errors.New("a file or folder with modules or ConversionRules is needed"))
	}
	if net.ParseIP(w.BindAddress) == nil {
		bad("bind-address", "is no IP address: %q", w.BindAddress)
	}
	if w.SecurePort < 0 || w.SecurePort > 65535 {
		bad("secure-port", "must be between 0 and 65535")
	}
	for _, host := range w.Hosts {
		if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(host)) > 0 {
			bad("host", "is neither an address nor the name of a host: %q", host)
		}
	}
	if (w.TLSCertFile == "") != (w.TLSPrivateKeyFile == "") {
		bad("tls-cert-file", "goes with --tls-private-key-file: set both or none")
	}
	if w.TLSCAFile != "" && w.TLSCertFile == "" {
		bad("tls-ca-file", "goes with --tls-cert-file")
	}
	if w.Inject != "" && w.Inject != Annotated {
		if _, err := labels.Parse(w.Inject); err != nil {
			bad("inject", "is neither %q nor a selector of labels: %v", Annotated, err)
		}
	}
	if w.MaxRequestBodyBytes < 1<<20 {
		bad("max-request-body", "must be at least %d", 1<<20)
	}
	for flag, n := range map[string]int64{
		"module-idle-memory": w.ModuleIdleMemory, "module-compile-memory": w.ModuleCompileMemory,
		"module-compile-time": int64(w.ModuleCompileTime), "shutdown-delay-duration": int64(w.ShutdownDelay),
	} {
		if n < 0 {
			bad(flag, "must not be negative")
		}
	}
	return errors.Join(errs...)
}

// WebhookStarted tells that the webhooks are served, and how to reach them.
type WebhookStarted struct {
	// Paths are those of the webhooks, below URL.
	URL   string
	Paths []string
	// CABundle verifies the certificate.
	CABundle []byte
}

// String is what to put where.
func (s WebhookStarted) String() string {
	return fmt.Sprintf("wasmgate serves webhooks at %s:\n  %s\n", s.URL, strings.Join(s.Paths, "\n  "))
}
