package authz

import (
	"context"
	"errors"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Lister lists what users may do. It is safe for concurrent use.
type Lister interface {
	// Rules are what a user may do in a namespace, those of the cluster among them;
	// "" is the cluster alone. With an error they are what is known.
	Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error)
}

// ErrIncomplete is in errors of a [Lister] that cannot know all rules. It has no text.
var ErrIncomplete = errors.New("")

// Decision is what an authorizer says of a question.
type Decision int

// The decisions.
const (
	NoOpinion Decision = iota
	Allow
	// Deny refuses, whatever others would say who are asked later.
	Deny
)

// Judge is an [Authorizer] that tells who is denied from who is not allowed.
type Judge interface {
	Judge(ctx context.Context, a Attributes) (Decision, string, error)
}

// Decider answers questions, and lists the answers.
type Decider interface {
	Authorizer
	Lister
}

// Chain asks each in turn: the first that allows decides, and if none does, the reasons
// and errors of all are told.
type Chain []Decider

// Authorize implements [Authorizer].
func (c Chain) Authorize(ctx context.Context, a Attributes) (bool, string, error) {
	var reasons []string
	var errs []error
	for _, one := range c {
		allowed, reason, err := one.Authorize(ctx, a)
		if allowed {
			return true, reason, err
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return false, strings.Join(reasons, "\n"), utilerrors.NewAggregate(errs)
}

// Rules implements [Lister]: all that any of them allows.
func (c Chain) Rules(user *authn.User, namespace string) (all []rbacv1.PolicyRule, err error) {
	for _, one := range c {
		some, wrong := one.Rules(user, namespace)
		all, err = append(all, some...), errors.Join(err, wrong)
	}
	return all, err
}

// everything allows everything.
func everything() []rbacv1.PolicyRule {
	all := []string{"*"}
	return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
}

// Always allows everything to everybody who is asked about, or nothing.
type Always bool

// Authorize implements [Authorizer].
func (yes Always) Authorize(context.Context, Attributes) (bool, string, error) {
	if yes {
		return true, "", nil
	}
	return false, "Everything is forbidden.", nil
}

// Rules implements [Lister].
func (yes Always) Rules(*authn.User, string) ([]rbacv1.PolicyRule, error) {
	if yes {
		return everything(), nil
	}
	return nil, nil
}
