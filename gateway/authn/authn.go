package authn

import (
	"context"
	"crypto/x509"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Names that Kubernetes gives a meaning.
const (
	// Anonymous is the name of the user that nobody vouches for.
	Anonymous = "system:anonymous"
	// Unauthenticated is the group of [Anonymous].
	Unauthenticated = "system:unauthenticated"
	// AllAuthenticated is a group of every user that was authenticated.
	AllAuthenticated = "system:authenticated"
	// Masters is the group that may do everything.
	Masters = "system:masters"
)

// User is an identity. It is shared by all requests of that identity: nobody
// changes it.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// In reports whether the user belongs to group. A nil user belongs to none.
func (u *User) In(group string) bool {
	return u != nil && slices.Contains(u.Groups, group)
}

// GetName is the name; with the methods beside it a User is the user.Info that
// Kubernetes' libraries know.
func (u *User) GetName() string { return u.Name }

// GetUID is the uid.
func (u *User) GetUID() string { return u.UID }

// GetGroups are the groups.
func (u *User) GetGroups() []string { return u.Groups }

// GetExtra is what else is known.
func (u *User) GetExtra() map[string][]string { return u.Extra }

// Info is the user as the API writes it: in reviews, in what webhooks are sent and
// in the audit log.
func (u *User) Info() authenticationv1.UserInfo {
	out := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for key, values := range u.Extra {
		if out.Extra == nil {
			out.Extra = map[string]authenticationv1.ExtraValue{}
		}
		out.Extra[key] = values
	}
	return out
}

// NewUser is a user who was authenticated, of [AllAuthenticated] too.
func NewUser(u User) *User {
	if u.Name != Anonymous {
		u.Groups = withAuthenticated(u.Groups)
	}
	return &u
}

// AnonymousUser is the user of requests without credentials, on the few paths
// that are open to everybody.
func AnonymousUser() *User {
	return &User{Name: Anonymous, Groups: []string{Unauthenticated}}
}

// Request is what a client shows of itself.
type Request struct {
	// BearerToken is the token of the Authorization header, without "Bearer ".
	BearerToken string
	// ClientCerts is the certificate chain of the TLS handshake, leaf first.
	// Nobody has verified it yet.
	ClientCerts []*x509.Certificate
	// Head is the rest of the head of the request; nil where there is none.
	Head interface {
		// Header makes a copy of all headers.
		Header() http.Header
	}
	// Audiences are whom a token has to be for, one of them; none is this API.
	Audiences []string
	// ForAPI tells that one of Audiences is this API, whom credentials are for that name
	// nobody.
	ForAPI bool
	// Notes are told what is noteworthy of the credentials; nil where nobody wants to know.
	Notes Notes
}

// Notes are told what credentials say beside whom they show.
type Notes interface {
	// Annotate adds to the audit record of the request.
	Annotate(key, value string)
	// Warn tells the client.
	Warn(text string)
}

// Annotate tells who audits the request, if anybody wants to know.
func (r Request) Annotate(key, value string) {
	if r.Notes != nil {
		r.Notes.Annotate(key, value)
	}
}

// Warn tells the client, if anybody does.
func (r Request) Warn(text string) {
	if r.Notes != nil {
		r.Notes.Warn(text)
	}
}

// ForOthers reports whether the request asks about credentials for anybody but this API.
func (r Request) ForOthers() bool { return len(r.Audiences) > 0 && !r.ForAPI }

// Empty reports whether the request carries no credentials at all.
func (r Request) Empty() bool { return r.BearerToken == "" && len(r.ClientCerts) == 0 }

// Authenticator recognises one kind of credential. It is safe for concurrent
// use. Those that ask somebody else stop when the context ends; the others do not block.
type Authenticator interface {
	// Authenticate returns the user and true, or false when it does not know
	// the credentials. The error says why credentials of its kind were
	// refused; it is for logs and TokenReviews, not for whom it refuses.
	Authenticate(context.Context, Request) (*User, bool, error)
}

// Union asks each authenticator in turn and takes the first that knows the
// user. When none does, the errors of all are one, each text once.
type Union []Authenticator

// Authenticate implements [Authenticator].
func (u Union) Authenticate(ctx context.Context, r Request) (*User, bool, error) {
	var errs []error
	for _, a := range u {
		user, ok, err := a.Authenticate(ctx, r)
		if ok {
			return user, true, nil
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return nil, false, utilerrors.NewAggregate(errs)
}

// withAuthenticated returns groups with [AllAuthenticated] among them, in a
// slice of its own.
func withAuthenticated(groups []string) []string {
	out := make([]string, 0, len(groups)+1)
	out = append(out, groups...)
	if !slices.Contains(out, AllAuthenticated) {
		out = append(out, AllAuthenticated)
	}
	return out
}
