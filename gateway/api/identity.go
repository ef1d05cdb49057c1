package api

import (
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

// impersonate is the identity that user asks for, if user may have it. A
// request that asks to be somebody else is never served as the one who asks.
func (h *Handler) impersonate(user *authn.User, as *Impersonation) (*authn.User, error) {
	if as.User == "" {
		return nil, apierrors.NewBadRequest("groups and a uid can only be impersonated together with a user")
	}
	asked := []authz.Attributes{{Resource: "users", Name: as.User}}
	for _, g := range as.Groups {
		asked = append(asked, authz.Attributes{Resource: "groups", Name: g})
	}
	if as.UID != "" {
		asked = append(asked, authz.Attributes{Group: "authentication.k8s.io", Resource: "uids", Name: as.UID})
	}
	for _, a := range asked {
		a.User, a.Verb, a.Version, a.ResourceRequest = user, "impersonate", "v1", true
		if err := h.authorize(a); err != nil {
			return nil, err
		}
	}
	out := &authn.User{Name: as.User, UID: as.UID, Groups: append([]string(nil), as.Groups...)}
	if as.User != authn.Anonymous {
		out.Groups = append(out.Groups, authn.AllAuthenticated)
	} else if len(out.Groups) == 0 {
		out.Groups = []string{authn.Unauthenticated}
	}
	return out, nil
}
