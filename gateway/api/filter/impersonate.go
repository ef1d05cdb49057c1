package filter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// mode is a way to be allowed to be somebody else. All but the last, which has no
// name and allows everything to who may impersonate, are for one kind of
// identity, and for what is asked as that one.
type mode struct {
	name    string
	applies func(by *authn.User, as *api.Impersonation) bool
}

// modes are tried in this order; one that allows it is enough.
var modes = []mode{
	{"associated-node", onItsNode},
	{"arbitrary-node", func(_ *authn.User, as *api.Impersonation) bool {
		_, node := authn.Node(as.User)
		return node && onlyUser(as)
	}},
	{"serviceaccount", func(_ *authn.User, as *api.Impersonation) bool {
		_, _, account := authn.ServiceAccount(as.User)
		return account && onlyUser(as)
	}},
	{"user-info", func(_ *authn.User, as *api.Impersonation) bool {
		_, node := authn.Node(as.User)
		_, _, account := authn.ServiceAccount(as.User)
		return !node && !account
	}},
	{"", func(*authn.User, *api.Impersonation) bool { return true }},
}

// onItsNode tells that a service account wants to be the node that it runs on.
func onItsNode(by *authn.User, as *api.Impersonation) bool {
	node, ok := authn.Node(as.User)
	if _, _, account := authn.ServiceAccount(by.Name); !ok || !account || !onlyUser(as) {
		return false
	}
	runs := by.Extra[authn.NodeNameKey]
	return len(runs) == 1 && runs[0] == node
}

// onlyUser tells that nothing but the name is asked for.
func onlyUser(as *api.Impersonation) bool {
	return as.UID == "" && len(as.Groups) == 0 && len(as.Extra) == 0
}

// impersonate lets a user be somebody else who may. A request that asks to be
// somebody else is never served as the one who asks.
func impersonate(authorizer authz.Authorizer) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if c.Impersonate == nil {
				return next(ctx, c)
			}
			user, by, err := impersonated(ctx, authorizer, c.User, c.Impersonate, &c.Info)
			if err != nil {
				return barred(err)
			}
			c.User = user
			if c.Record != nil {
				c.Record.Impersonated, c.Record.Constraint = user, by.verb("")
			}
			return next(ctx, c)
		}
	}
}

// impersonated is the identity that a user asks for, if that user may have it to do
// what i says, and the mode in which that is allowed.
func impersonated(ctx context.Context, authorizer authz.Authorizer, by *authn.User, as *api.Impersonation, i *api.Info) (*authn.User, mode, error) {
	if as.User == "" {
		return nil, mode{}, apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:\"\", UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name", as.UID, as.Groups, as.Extra))
	}
	var first error
	for _, m := range modes {
		if !m.applies(by, as) {
			continue
		}
		err := mayImpersonate(ctx, authorizer, m, by, as, i)
		if err == nil {
			return m.identity(as), m, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, mode{}, first
}

// verb is what one has to be allowed to be somebody by the mode; always is that of the
// mode that is not constrained.
func (m mode) verb(always string) string {
	if m.name == "" {
		return always
	}
	return "impersonate:" + m.name
}

// mayImpersonate asks whether a mode is allowed: to do this, and to be each part of
// the identity.
func mayImpersonate(ctx context.Context, authorizer authz.Authorizer, m mode, by *authn.User, as *api.Impersonation, i *api.Info) error {
	if m.name == "associated-node" { // whichever node it is
		by = &authn.User{Name: by.Name, UID: by.UID, Groups: by.Groups, Extra: map[string][]string{
			"authentication.kubernetes.io/associated-node-keys": slices.Sorted(maps.Keys(by.Extra)),
		}}
	}
	if m.name != "" {
		a := i.Attributes(by)
		a.Verb = "impersonate-on:" + m.name + ":" + a.Verb
		if err := may(ctx, authorizer, a); err != nil {
			return err
		}
	}
	for _, part := range m.parts(as) {
		part.User, part.ResourceRequest, part.Version = by, true, "v1"
		if err := m.refused(part); err != nil {
			return err
		}
		if err := may(ctx, authorizer, part); err != nil {
			return err
		}
	}
	return nil
}

// parts are the questions whether somebody may have each part of an identity.
func (m mode) parts(as *api.Impersonation) []authz.Attributes {
	const authentication = "authentication.k8s.io"
	verb, group := m.verb("impersonate"), "" // the group that users and groups count as of
	if m.name != "" {
		group = authentication
	}
	name := authz.Attributes{Verb: verb, Group: group, Resource: "users", Name: as.User}
	if node, ok := authn.Node(as.User); ok && m.name != "" {
		name.Resource, name.Name = "nodes", node
		if m.name == "associated-node" {
			name.Name = "*"
		}
	}
	if namespace, account, ok := authn.ServiceAccount(as.User); ok {
		name.Resource, name.Namespace, name.Name = "serviceaccounts", namespace, account
	}
	all := []authz.Attributes{name}
	if as.UID != "" {
		all = append(all, authz.Attributes{Verb: verb, Group: authentication, Resource: "uids", Name: as.UID})
	}
	for _, g := range as.Groups {
		all = append(all, authz.Attributes{Verb: verb, Group: group, Resource: "groups", Name: g})
	}
	for _, key := range slices.Sorted(maps.Keys(as.Extra)) {
		for _, v := range as.Extra[key] {
			all = append(all, authz.Attributes{Verb: verb, Group: authentication, Resource: "userextras", Subresource: key, Name: v})
		}
	}
	return all
}

// refused is an error for a part that no mode with a name allows, whoever asks.
func (m mode) refused(part authz.Attributes) error {
	if m.name == "" {
		return nil
	}
	reason := ""
	switch part.Resource {
	case "groups":
		if part.Name == "" {
			reason = "impersonating the empty string group is not allowed"
		} else if part.Name == authn.Masters {
			reason = "impersonating the system:masters group is not allowed"
		}
	case "userextras":
		reason = invalidExtra(part.Subresource, part.Name)
		part.Subresource, part.Name = "", ""
	}
	if reason == "" {
		return nil
	}
	return authz.ForbiddenError(part, reason)
}

// invalidExtra is why a key and a value are none that a mode with a name allows; "" if
// they could be.
func invalidExtra(key, value string) string {
	if err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
		return fmt.Sprintf("impersonating an invalid key in extra is not allowed: %v", err)
	}
	if key != strings.ToLower(key) {
		return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
	}
	if value == "" {
		return "impersonating the empty string value in extra is not allowed"
	}
	return ""
}

// identity is who is asked for, with the groups that such a user always has. Who
// names groups has no others, but for the one of all that are known, or of those
// that are not.
func (m mode) identity(as *api.Impersonation) *authn.User {
	out := &authn.User{Name: as.User, UID: as.UID, Groups: slices.Clone(as.Groups), Extra: as.Extra}
	if namespace, _, ok := authn.ServiceAccount(as.User); ok && len(as.Groups) == 0 {
		out.Groups = authn.ServiceAccountGroups(namespace)
	}
	if _, ok := authn.Node(as.User); ok && m.name != "" {
		out.Groups = []string{authn.AllNodes}
	}
	switch {
	case as.User == authn.Anonymous:
		out.Groups = with(out.Groups, authn.Unauthenticated)
	case !out.In(authn.Unauthenticated):
		out.Groups = with(out.Groups, authn.AllAuthenticated)
	}
	return out
}

// with is a list of groups with one that is in it once.
func with(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(groups, group)
}
