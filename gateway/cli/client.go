package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// clientFlags are the flags of every command that talks to a gateway.
type clientFlags struct {
	kubeconfig string
	// overrides are what was given of the kubeconfig's content on the command line.
	overrides clientcmd.ConfigOverrides
	timeout   time.Duration
}

// add gives the command the flags, with kubectl's names for those that kubectl has.
func (f *clientFlags) add(cmd *cobra.Command, timeout time.Duration) {
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default KUBECONFIG, ~/.kube/config, or the one in ./wasmgate-data)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", timeout, "how long to wait in all")
	all := clientcmd.RecommendedConfigOverrideFlags("")
	all.ClusterOverrideFlags.APIServer.ShortName = "s"
	text := func(info clientcmd.FlagInfo, description string) clientcmd.FlagInfo {
		info.Description = description
		return info
	}
	clientcmd.BindOverrideFlags(&f.overrides, cmd.Flags(), clientcmd.ConfigOverrideFlags{
		CurrentContext: text(all.CurrentContext, "`name` of the context in the kubeconfig (default the current one)"),
		ContextOverrideFlags: clientcmd.ContextOverrideFlags{
			ClusterName:  text(all.ContextOverrideFlags.ClusterName, "`name` of the cluster in the kubeconfig"),
			AuthInfoName: text(all.ContextOverrideFlags.AuthInfoName, "`name` of the user in the kubeconfig"),
		},
		ClusterOverrideFlags: clientcmd.ClusterOverrideFlags{
			APIServer:             text(all.ClusterOverrideFlags.APIServer, "`URL` of the gateway"),
			CertificateAuthority:  text(all.ClusterOverrideFlags.CertificateAuthority, "PEM `file` with the authorities that verify the gateway"),
			InsecureSkipTLSVerify: text(all.ClusterOverrideFlags.InsecureSkipTLSVerify, "do not verify the gateway's certificate: whoever is in between reads the credentials"),
			TLSServerName:         text(all.ClusterOverrideFlags.TLSServerName, "`name` to verify the gateway's certificate for (default the host of its URL)"),
		},
		AuthOverrideFlags: clientcmd.AuthOverrideFlags{
			Token:             text(all.AuthOverrideFlags.Token, "bearer `token`"),
			ClientCertificate: text(all.AuthOverrideFlags.ClientCertificate, "PEM `file` with a client certificate"),
			ClientKey:         text(all.AuthOverrideFlags.ClientKey, "PEM `file` with the private key of --client-certificate"),
		},
	})
	_ = cmd.RegisterFlagCompletionFunc("context", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		if fromEnv(cmd.Flags()) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := kubeconfig.Contexts(f.kubeconfig)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// origins are where the parts of a configuration come from, for messages: flags or
// a kubeconfig. "" is nowhere: there are no credentials, or the authorities are the
// system's.
type origins struct{ server, credentials, authority string }

// origins tells where cfg comes from; file is the kubeconfig, "" for none.
func (f *clientFlags) origins(file string, cfg *rest.Config) origins {
	from := origins{server: file, credentials: file}
	if f.overrides.ClusterInfo.Server != "" {
		from.server = "--server"
	}
	switch {
	case f.overrides.AuthInfo.Token != "":
		from.credentials = "--token"
	case f.overrides.AuthInfo.ClientCertificate != "":
		from.credentials = "--client-certificate"
	}
	switch {
	case f.overrides.ClusterInfo.CertificateAuthority != "":
		from.authority = "--certificate-authority"
	case len(cfg.CAData) > 0 || cfg.CAFile != "":
		from.authority = file
	}
	return from
}

// run applies the environment to the flags and calls do with the configuration
// for the gateway they name, for as long as they allow.
func (f *clientFlags) run(cmd *cobra.Command, do func(context.Context, *rest.Config) error) error {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	if server := &f.overrides.ClusterInfo.Server; *server != "" && !strings.Contains(*server, "://") {
		*server = "https://" + *server // a gateway speaks nothing else
	}
	if err := f.check(); err != nil {
		return mistake{err}
	}
	cfg, from, err := kubeconfig.Load(f.kubeconfig, &f.overrides)
	if err != nil {
		return mistake{err}
	}
	cfg.UserAgent = "wasmgate/" + Version()
	// One command does a handful of requests; client-side limits only delay it.
	cfg.QPS = -1
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	err = ofServer(do(ctx, cfg))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return fmt.Errorf("%w\n%s had %s in all, as --timeout says: give it more, or see how it is with: kubectl get --raw /readyz?verbose", err, cfg.Host, f.timeout)
	}
	return advised(err, cfg.Host, f.origins(from, cfg))
}

// check tells what is wrong with the flags, each by its name.
func (f *clientFlags) check() error {
	var errs []error
	for flag, file := range map[string]string{
		"kubeconfig": f.kubeconfig, "certificate-authority": f.overrides.ClusterInfo.CertificateAuthority,
		"client-certificate": f.overrides.AuthInfo.ClientCertificate, "client-key": f.overrides.AuthInfo.ClientKey,
	} {
		if file == "" {
			continue
		}
		if err := lookFor(file, false); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	if server := f.overrides.ClusterInfo.Server; server != "" {
		if u, err := url.Parse(server); err != nil || u.Hostname() == "" {
			errs = append(errs, fmt.Errorf("--server: %q is no URL such as https://127.0.0.1:6443", server))
		}
	}
	if f.timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout: must be greater than 0, got %s", f.timeout))
	}
	return errors.Join(errs...)
}

// withModules is run for commands that only look at modules, or change them.
func (f *clientFlags) withModules(cmd *cobra.Command, do func(context.Context, dynamic.ResourceInterface) error) error {
	return f.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		return do(ctx, client.Resource(modules))
	})
}

// advised adds what to do to errors of a gateway that cannot be reached, or
// does not let in whoever asks.
func advised(err error, host string, from origins) error {
	advice, unknown := "", errors.As(err, &x509.UnknownAuthorityError{})
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		advice = fmt.Sprintf("Nothing listens at %s, which %s names: is `wasmgate serve` running?", host, from.server)
	case unknown && from.authority == "":
		advice = fmt.Sprintf("The certificate of %s is of no authority that this system trusts: name its own with --certificate-authority", host)
	case unknown:
		advice = fmt.Sprintf("The certificate of %s is not of the authority that is in %s: is that the one of another gateway?", host, from.authority)
	case from.credentials == "" && (apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err)):
		advice = fmt.Sprintf("%s wants credentials: pass --kubeconfig, --token or --client-certificate", host)
	case apierrors.IsUnauthorized(err):
		advice = fmt.Sprintf("%s does not accept the credentials in %s: are they of another gateway, or old?", host, from.credentials)
	default:
		return err
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

// follow calls check with an object as it is now and then after every change,
// until check says done or fails, or ctx ends. A gateway that restarts
// meanwhile is waited for.
func follow(ctx context.Context, objects dynamic.ResourceInterface, name string, check func(*unstructured.Unstructured) (done bool, err error)) error {
	for attempt := 0; ; attempt++ {
		done, err := followOnce(ctx, objects, name, check)
		if done {
			return err
		}
		// A watch that was cut short is normal; one that cannot even start is
		// tried again ever more slowly.
		delay := min(5*time.Second, 100*time.Millisecond<<min(attempt, 6))
		if err == nil {
			attempt = 0
		}
		select {
		case <-time.After(delay/2 + rand.N(delay)):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// followOnce follows with one get and one watch. done tells that err is the
// end of it all, rather than a reason to try again.
func followOnce(ctx context.Context, objects dynamic.ResourceInterface, name string, check func(*unstructured.Unstructured) (bool, error)) (done bool, err error) {
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return permanent(err), err
	}
	if done, err = check(obj); done || err != nil {
		return true, err
	}
	w, err := objects.Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", name).String(),
		ResourceVersion: obj.GetResourceVersion(),
	})
	if err != nil {
		return permanent(err), err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case event.Type == watch.Deleted:
			return true, fmt.Errorf("%s %w", name, errDeleted)
		case event.Type == watch.Error || !ok:
			return false, nil // too old or cut off: begin again with a get
		}
		if done, err := check(obj); done || err != nil {
			return true, err
		}
	}
	return false, nil
}

// errDeleted is the end of following an object that was deleted.
var errDeleted = errors.New("was deleted")

// permanent tells an answer from the server from the lack of one: trying again
// does not change an answer.
func permanent(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != 429 && code != 410
}

// interrupted explains an ended wait. rest says what goes on without it.
func interrupted(ctx context.Context, err error, rest string) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("gave up waiting (--timeout): %s", rest)
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %s", rest)
	}
	return err
}
