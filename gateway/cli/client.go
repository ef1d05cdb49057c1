package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
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

	"github.com/wasmgate/wasmgate/gateway/kubeconfig"
)

// clientFlags are the flags of every command that talks to a gateway.
type clientFlags struct {
	kubeconfig string
	timeout    time.Duration
}

func (f *clientFlags) add(cmd *cobra.Command, timeout time.Duration) {
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default KUBECONFIG, ~/.kube/config, or the one in ./wasmgate-data)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", timeout, "how long to wait in all")
}

// run applies the environment to the flags and calls do with the configuration
// for the gateway they name, for as long as they allow.
func (f *clientFlags) run(cmd *cobra.Command, do func(context.Context, *rest.Config) error) error {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	cfg, from, err := kubeconfig.Load(f.kubeconfig)
	if err != nil {
		return err
	}
	cfg.UserAgent = "wasmgate/" + Version()
	// One command does a handful of requests; client-side limits only delay it.
	cfg.QPS = -1
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	return advised(do(ctx, cfg), cfg.Host, from)
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
// does not let in whoever asks. from is the kubeconfig that names it.
func advised(err error, host, from string) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		advice = fmt.Sprintf("Nothing listens at %s, which %s names: is `wasmgate serve` running?", host, from)
	case errors.As(err, &x509.UnknownAuthorityError{}):
		advice = fmt.Sprintf("The certificate of %s is not of the authority that is in %s: is that the kubeconfig of another gateway?", host, from)
	case apierrors.IsUnauthorized(err):
		advice = fmt.Sprintf("%s does not accept the credentials in %s: is that the kubeconfig of another gateway, or an old one?", host, from)
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
			return true, fmt.Errorf("%s was deleted", name)
		case event.Type == watch.Error || !ok:
			return false, nil // too old or cut off: begin again with a get
		}
		if done, err := check(obj); done || err != nil {
			return true, err
		}
	}
	return false, nil
}

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
