package structured

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// answer is a library's authenticator that answers so.
type answer struct {
	r   *authenticator.Response
	ok  bool
	err error
}

func (a answer) AuthenticateToken(context.Context, string) (*authenticator.Response, bool, error) {
	return a.r, a.ok, a.err
}

// Who the library knows is one of the gateway's users; who it does not know is nobody,
// whatever else it says.
func TestUsersOfTheLibraryBecomeTheGateways(t *testing.T) {
	ann := &authenticator.Response{User: &user.DefaultInfo{Name: "ann", UID: "u", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}, Audiences: authenticator.Audiences{"a"}}
	no := errors.New("no")
	for name, c := range map[string]struct {
		answer
		want bool
	}{
		"known":                {answer{ann, true, nil}, true},
		"not known":            {answer{ann, false, nil}, false},
		"an error":             {answer{ann, true, no}, false},
		"no response":          {answer{nil, true, nil}, false},
		"nobody in a response": {answer{&authenticator.Response{}, true, nil}, false},
	} {
		r, ok, err := known{c.answer}.AuthenticateToken(t.Context(), "token")
		if ok != c.want || (r != nil) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %t, %v", name, r, ok, err)
			continue
		}
		if !ok {
			continue
		}
		u, mine := r.User.(*authn.User)
		if !mine || u.Name != "ann" || u.UID != "u" || !slices.Contains(u.Groups, "g") || u.Extra["k"][0] != "v" || len(r.Audiences) != 1 {
			t.Errorf("%s: %+v of %T", name, r, r.User)
		}
	}
}
