package structured

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/apis/apiserver"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	authorizationmetrics "k8s.io/apiserver/pkg/authorization/metrics"
	"k8s.io/apiserver/pkg/server/options/authorizationconfig/metrics"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Config is what a [Chain] is made of.
type Config struct {
	// Path is that of the file; "" is none, and then Flags counts.
	Path  string
	Flags *apiserver.AuthorizationConfiguration
	// First is asked before all that the file names.
	First authz.Decider
	// Known are the authorizers that are no webhooks, by type.
	Known map[string]authz.Decider
	// Gateway is what this gateway is called among those that share a store.
	Gateway string
}

// Chain asks authorizers in turn: the first that allows or denies decides.
type Chain struct {
	c        Config
	compiler authorizationcel.Compiler
	said     []byte   // by the file at first
	required []string // types that a changed file has to have
	now      atomic.Pointer[[]link]
}

// judge is an authorizer that can deny.
type judge interface {
	Judge(context.Context, authz.Attributes) (authz.Decision, string, error)
	authz.Lister
}

// link is one authorizer of a chain.
type link struct {
	judge
	kind, name string
}

// allows makes a judge of an authorizer that does not deny.
type allows struct{ authz.Decider }

// Judge implements judge.
func (a allows) Judge(ctx context.Context, at authz.Attributes) (authz.Decision, string, error) {
	allowed, reason, err := a.Authorize(ctx, at)
	if allowed {
		return authz.Allow, reason, err
	}
	return authz.NoOpinion, reason, err
}

// New reads the file, or the flags.
func New(c Config) (*Chain, error) {
	out, err := read(c)
	if err != nil {
		return nil, err
	}
	if c.Path != "" {
		metrics.RegisterMetrics()
		metrics.RecordAuthorizationConfigLastConfigInfo(c.Gateway, string(out.said))
	}
	authorizationmetrics.RegisterMetrics()
	return out, nil
}

// Look tells why nothing can be made of a configuration.
func Look(c Config) error {
	_, err := read(c)
	return err
}

func read(c Config) (*Chain, error) {
	out := &Chain{c: c, compiler: authorizationcel.NewDefaultCompiler()}
	configured := c.Flags
	if c.Path != "" {
		var err error
		if out.said, err = authn.ReadConfiguration(c.Path); err == nil {
			configured, err = out.read(out.said)
		}
		if err != nil {
			return nil, fmt.Errorf("--authorization-config: %w", err)
		}
	}
	for _, a := range configured.Authorizers {
		if a.Type != apiserver.TypeWebhook {
			out.required = append(out.required, string(a.Type))
		}
	}
	return out, out.set(configured)
}

// set has a configuration decide from now on.
func (c *Chain) set(configured *apiserver.AuthorizationConfiguration) error {
	links := []link{{judge: allows{c.c.First}}}
	for _, a := range configured.Authorizers {
		l := link{kind: string(a.Type), name: a.Name}
		if a.Type == apiserver.TypeWebhook {
			w, err := newWebhook(a, c.compiler)
			if err != nil {
				return err
			}
			l.judge = w
		} else {
			l.judge = allows{c.c.Known[l.kind]}
		}
		links = append(links, l)
	}
	c.now.Store(&links)
	return nil
}

// Run brings changes of the file into force until ctx ends. told hears, once each, why
// one cannot be used, and nil of those that can.
func (c *Chain) Run(ctx context.Context, told func(error)) {
	if c.c.Path == "" {
		return
	}
	authn.Reread(ctx, c.c.Path, c.said, func(data []byte) error {
		configured, err := c.read(data)
		if err == nil {
			err = c.set(configured)
		}
		if err == nil {
			metrics.RecordAuthorizationConfigAutomaticReloadSuccess(c.c.Gateway, string(data))
		}
		return err
	}, func(err error) {
		if err != nil {
			metrics.RecordAuthorizationConfigAutomaticReloadFailure(c.c.Gateway)
		}
		told(err)
	})
}

// Judge implements [authz.Judge].
func (c *Chain) Judge(ctx context.Context, a authz.Attributes) (authz.Decision, string, error) {
	var reasons []string
	var errs []error
	for _, one := range *c.now.Load() {
		decision, reason, err := one.Judge(ctx, a)
		if decision != authz.NoOpinion {
			one.count(decision)
			return decision, reason, err
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return authz.NoOpinion, strings.Join(reasons, "\n"), utilerrors.NewAggregate(errs)
}

// count counts a decision, of all but administrators' as kube-apiserver does.
func (l link) count(d authz.Decision) {
	if l.kind == "" {
		return
	}
	said := "denied"
	if d == authz.Allow {
		said = "allowed"
	}
	authorizationmetrics.RecordAuthorizationDecision(l.kind, l.name, said)
}

// Authorize implements [authz.Authorizer]. Who is allowed is so in spite of errors.
func (c *Chain) Authorize(ctx context.Context, a authz.Attributes) (bool, string, error) {
	decision, reason, err := c.Judge(ctx, a)
	if decision == authz.Allow {
		return true, reason, nil
	}
	return false, reason, err
}

// Rules implements [authz.Lister].
func (c *Chain) Rules(user *authn.User, namespace string) (all []rbacv1.PolicyRule, err error) {
	var errs []error
	for _, one := range *c.now.Load() {
		some, wrong := one.Rules(user, namespace)
		if all = append(all, some...); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	return all, utilerrors.NewAggregate(errs)
}
