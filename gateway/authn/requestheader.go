package authn

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// RequestHeader believes what servers before this one say in headers of who asks, if they
// show a certificate of one of a set of authorities.
type RequestHeader struct {
	// By recognises those servers.
	By Authenticator
	// AllowedNames are what they may be called; empty is anything.
	AllowedNames []string
	// Names are headers, of which the first counts that is there.
	Username, UID, Group, ExtraPrefix []string
}

// FollowRequestHeaderCAFile follows the PEM bundle of --requestheader-client-ca-file.
func FollowRequestHeaderCAFile(path string, failed func(error)) (*Following, error) {
	return Follow(path, func(bundle []byte) (Authenticator, error) {
		c, err := NewClientCerts(bundle, nil)
		if err != nil {
			return nil, fmt.Errorf("request header CA file %s: %w", path, err)
		}
		return c, nil
	}, failed, nil)
}

// Authenticate implements [Authenticator].
func (h *RequestHeader) Authenticate(ctx context.Context, r Request) (*User, bool, error) {
	if len(r.ClientCerts) == 0 || r.Head == nil {
		return nil, false, nil
	}
	head := r.Head.Header()
	name := first(head, h.Username)
	if name == "" {
		return nil, false, nil
	}
	server, ok, err := h.By.Authenticate(ctx, Request{ClientCerts: r.ClientCerts})
	if err != nil || !ok {
		return nil, false, err
	}
	if len(h.AllowedNames) > 0 && !slices.Contains(h.AllowedNames, server.Name) {
		return nil, false, fmt.Errorf("x509: subject with cn=%s is not in the allowed list", server.Name)
	}
	u := &User{Name: name, UID: first(head, h.UID)}
	for _, header := range h.Group {
		u.Groups = append(u.Groups, head.Values(header)...)
	}
	u.Extra = h.extra(head)
	if u.Name != Anonymous && !slices.Contains(u.Groups, Unauthenticated) {
		u.Groups = withAuthenticated(u.Groups)
	}
	return u, true, nil
}

// first is the value of the first header that has one.
func first(head http.Header, names []string) string {
	for _, name := range names {
		if v := head.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// extra is what else is said of the user, by keys in lower case.
func (h *RequestHeader) extra(head http.Header) map[string][]string {
	out := map[string][]string{}
	for _, prefix := range h.ExtraPrefix {
		for name, values := range head {
			if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
				continue
			}
			key := strings.ToLower(name[len(prefix):])
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			out[key] = append(out[key], values...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
