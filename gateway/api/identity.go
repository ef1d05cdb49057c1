package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// BearerToken is the token in an Authorization header, or "".
func BearerToken(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// impersonate is the identity that a user asks for, if that user may have it. A
// request that asks to be somebody else is never served as the one who asks.
func (h *Handler) impersonate(by *authn.User, as *Impersonation) (*authn.User, error) {
	if as.User == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:\"\", UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name", as.UID, as.Groups, as.Extra))
	}
	asked := []authz.Attributes{{Resource: "users", Name: as.User}}
	for _, g := range as.Groups {
		asked = append(asked, authz.Attributes{Resource: "groups", Name: g})
	}
	if as.UID != "" {
		asked = append(asked, authz.Attributes{Group: "authentication.k8s.io", Resource: "uids", Name: as.UID})
	}
	for _, key := range slices.Sorted(maps.Keys(as.Extra)) {
		for _, v := range as.Extra[key] {
			asked = append(asked, authz.Attributes{Group: "authentication.k8s.io", Resource: "userextras", Subresource: key, Name: v})
		}
	}
	for _, a := range asked {
		a.User, a.Verb, a.Version, a.ResourceRequest = by, "impersonate", "v1", true
		if err := h.authorize(a); err != nil {
			return nil, err
		}
	}
	out := &authn.User{Name: as.User, UID: as.UID, Groups: append([]string(nil), as.Groups...), Extra: as.Extra}
	if as.User != authn.Anonymous {
		out.Groups = append(out.Groups, authn.AllAuthenticated)
	} else if len(out.Groups) == 0 {
		out.Groups = []string{authn.Unauthenticated}
	}
	return out, nil
}
