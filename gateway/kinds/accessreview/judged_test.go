package accessreview

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// judging is who decides and tells who is denied, by the verb.
type judging struct{ may }

func (judging) Judge(_ context.Context, a authz.Attributes) (authz.Decision, string, error) {
	switch a.Verb {
	case "get":
		return authz.Allow, "allowed", nil
	case "delete":
		return authz.Deny, "denied", nil
	}
	return authz.NoOpinion, "", errors.New("cannot tell")
}

// Who is denied is told from who is not allowed.
func TestWhoIsDeniedIsTold(t *testing.T) {
	all := Answers{Decider: judging{func(authz.Attributes) (bool, string, error) { return false, "not asked", nil }}}.All()
	for verb, want := range map[string]string{
		"get": "{allowed: true, reason: allowed}", "delete": "{allowed: false, denied: true, reason: denied}", "list": "{allowed: false, evaluationError: cannot tell}",
	} {
		review := map[string]any{"spec": tree(t, "resourceAttributes: {verb: "+verb+"}")}
		if err := all[schema.GroupResource{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}](t.Context(), &authn.User{}, nil, review); err != nil {
			t.Fatal(err)
		}
		if got, want := plain(t, review["status"]), plain(t, tree(t, want)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", verb, got, want)
		}
	}
}

// A spec that cannot be read is the client's mistake, of whatever review.
func TestSpecsThatCannotBeRead(t *testing.T) {
	all := Answers{Authenticator: known{}, Decider: judging{}}.All()
	read := 0
	for gr, answer := range all {
		review := map[string]any{"spec": "text"}
		err := answer(t.Context(), &authn.User{}, nil, review)
		if gr.Resource == "selfsubjectreviews" { // which has none
			if err != nil {
				t.Errorf("%s: %v", gr, err)
			}
			continue
		}
		if read++; !apierrors.IsBadRequest(err) || review["status"] != nil {
			t.Errorf("%s: %v, %v", gr, err, review)
		}
	}
	if read != 5 {
		t.Errorf("%d reviews have a spec", read)
	}
	review := map[string]any{}
	if err := all[schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}](t.Context(), nil, nil, review); err == nil || err.Error() != "token is required for TokenReview in authentication" {
		t.Errorf("no token: %v", err)
	}
}

// Each audience is asked about, so there is a bound to how many a review names.
func TestAudiencesOfAReviewAreBounded(t *testing.T) {
	token := Answers{Authenticator: known{}, Decider: judging{}}.All()[schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}]
	for n, refused := range map[int]bool{maxAudiences: false, maxAudiences + 1: true} {
		audiences := make([]any, n)
		for i := range audiences {
			audiences[i] = fmt.Sprint(i)
		}
		err := token(t.Context(), &authn.User{}, nil, map[string]any{"spec": map[string]any{"token": "good", "audiences": audiences}})
		if apierrors.IsBadRequest(err) != refused || (err != nil) != refused {
			t.Errorf("%d audiences: %v", n, err)
		}
	}
}
