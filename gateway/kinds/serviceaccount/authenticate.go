package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Objects are the objects that there are.
type Objects interface {
	client.Getter
	client.Freshener
}

var (
	accounts = schema.GroupResource{Resource: "serviceaccounts"}
	pods     = schema.GroupResource{Resource: "pods"}
	secrets  = schema.GroupResource{Resource: "secrets"}
	nodes    = schema.GroupResource{Resource: "nodes"}
)

// The names that Kubernetes gives accounts, and what is known of their tokens.
const (
	userPrefix  = authn.ServiceAccountPrefix
	extraPrefix = "authentication.kubernetes.io/"
	// annotations is how what is said of tokens in audit events begins.
	annotations = "authentication.k8s.io/"
)

// Tokens issues and believes tokens. It is an [authn.Authenticator].
type Tokens struct {
	// Key signs. What it has signed is believed, and what one of Verifiers verifies.
	Key       *Key
	Verifiers []Verifier
	// Issuers are whose tokens are believed, at least one: the first is who signs.
	Issuers []string
	// Audiences are whom tokens are for unless they say otherwise, at least one.
	Audiences []string
	// MaxExpiration is how long a token lasts at most; 0 is no bound.
	MaxExpiration time.Duration
	// ExtendExpiration lets tokens that kubelets ask for in the usual way last for
	// a year, for clients that never read them again.
	ExtendExpiration bool
	// Objects are the accounts, secrets and pods that tokens speak of.
	Objects Objects
	// Uses notes when tokens that are kept in Secrets are used; nil does not.
	Uses *Uses
	// Counts are metrics; nil for none.
	Counts *metrics.Tokens
	// Now is the time; nil means [time.Now].
	Now func() time.Time
}

func (t *Tokens) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

// Authenticate implements [authn.Authenticator].
func (t *Tokens) Authenticate(ctx context.Context, r authn.Request) (*authn.User, bool, error) {
	if !maybe(r.BearerToken) {
		return nil, false, nil
	}
	c, err := t.read(r.BearerToken)
	switch {
	case err != nil:
	case c.Issuer == keptIssuer && c.Secret != "":
		err = t.believeKept(ctx, &c, r)
	default:
		err = t.believe(ctx, &c, r)
	}
	if err == nil && c.About.WarnAfter != nil {
		t.tellAge(&c, r)
	}
	if err != nil {
		return nil, false, fmt.Errorf("token of a service account: %w", err)
	}
	return user(&c), true, nil
}

// believe tells why a token that is signed does not count.
func (t *Tokens) believe(ctx context.Context, c *claims, r authn.Request) error {
	now, a := t.now(), c.About
	switch {
	case !t.issues(c.Issuer):
		return errors.New("it is from another issuer")
	case !t.isFor(c.Audience, r):
		return errors.New("it is for another audience")
	case c.ExpiresAt == nil || now.Sub(c.ExpiresAt.Time) > leeway:
		return errors.New("it has expired")
	case c.NotBefore != nil && c.NotBefore.Sub(now) > leeway:
		return errors.New("it does not count yet")
	case c.Subject != userPrefix+a.Namespace+":"+a.Account.Name:
		return errors.New("its subject is not the account")
	}
	node := a.Node
	if a.Pod != nil {
		node = nil // it is where the pod was, which alone the token is bound to
	}
	for _, bound := range []struct {
		gr        schema.GroupResource
		namespace string
		to        *reference
	}{{accounts, a.Namespace, &a.Account}, {pods, a.Namespace, a.Pod}, {secrets, a.Namespace, a.Secret}, {nodes, "", node}} {
		if bound.to == nil {
			continue
		}
		if err := t.there(ctx, bound.gr, bound.namespace, *bound.to); err != nil {
			return err
		}
	}
	return nil
}

// tellAge tells whether the holder of a token that is believed should have asked for
// another one.
func (t *Tokens) tellAge(c *claims, r authn.Request) {
	late := t.now().Unix() - c.About.WarnAfter.Unix()
	if !t.now().After(c.About.WarnAfter.Time) {
		t.Counts.Used(metrics.ValidToken)
		return
	}
	t.Counts.Used(metrics.StaleToken)
	r.Annotate(annotations+"stale-token", fmt.Sprintf("subject: %s, seconds after warning threshold: %d", c.Subject, late))
}

// isFor reports whether a token for some is for who is meant.
func (t *Tokens) isFor(audiences []string, r authn.Request) bool {
	meant := r.Audiences
	if len(meant) == 0 {
		meant = t.Audiences
	}
	return slices.ContainsFunc(audiences, func(one string) bool { return slices.Contains(meant, one) })
}

// issues reports whether tokens of an issuer are believed.
func (t *Tokens) issues(issuer string) bool { return slices.Contains(t.Issuers, issuer) }

// there checks that what a token names still is what it was.
func (t *Tokens) there(ctx context.Context, gr schema.GroupResource, namespace string, r reference) error {
	o, err := t.recent(ctx, gr, namespace, r.Name, func(o *unstructured.Unstructured) bool { return string(o.GetUID()) == r.UID })
	switch {
	case apierrors.IsNotFound(err) || err == nil && string(o.GetUID()) != r.UID:
		return fmt.Errorf("the one of %s that it is bound to is gone", gr.Resource)
	case err != nil:
		return err
	case o.GetDeletionTimestamp() != nil && t.now().Sub(o.GetDeletionTimestamp().Time) > ending:
		return fmt.Errorf("the one of %s that it is bound to has been deleted", gr.Resource)
	}
	return nil
}

// recent reads what a token names. Where it is not there, or not what the token means, it may have
// been made just now, perhaps through another gateway: then it is read again once the cache holds
// all that was committed. Only who holds a signed token can ask for that.
func (t *Tokens) recent(ctx context.Context, gr schema.GroupResource, namespace, name string, meant func(o *unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	o, err := t.Objects.Get(ctx, gr, namespace, name)
	if err == nil && meant(o) || err != nil && !apierrors.IsNotFound(err) {
		return o, err
	}
	if err := t.Objects.Fresh(ctx); err != nil {
		return nil, err
	}
	return t.Objects.Get(ctx, gr, namespace, name)
}

// leeway is how far the clocks of two gateways may be apart, as in kube-apiserver: a token
// of the one has to count at the other at once.
const leeway = time.Minute

// ending is how long tokens count that are bound to what is being deleted, so
// that a pod can clean up.
const ending = time.Minute

func user(c *claims) *authn.User {
	a := c.About
	out := &authn.User{
		Name: c.Subject, UID: a.Account.UID, Groups: append(authn.ServiceAccountGroups(a.Namespace), authn.AllAuthenticated),
	}
	if c.ID == "" { // it is bound to nothing but a Secret then
		return out
	}
	out.Extra = map[string][]string{extraPrefix + "credential-id": {"JTI=" + c.ID}}
	if a.Pod != nil {
		out.Extra[extraPrefix+"pod-name"], out.Extra[extraPrefix+"pod-uid"] = []string{a.Pod.Name}, []string{a.Pod.UID}
	}
	if a.Node != nil {
		out.Extra[authn.NodeNameKey] = []string{a.Node.Name}
		if a.Node.UID != "" {
			out.Extra[extraPrefix+"node-uid"] = []string{a.Node.UID}
		}
	}
	return out
}
