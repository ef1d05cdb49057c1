package accessreview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Answers answer reviews. They are safe for concurrent use.
type Answers struct {
	Authenticator authn.Authenticator
	// Audiences are whom tokens for this API are for. A review that names none asks about them.
	Audiences []string
	authz.Decider
}

// answer sets the status of a review; user is who asks, and notes are told what is
// noteworthy.
type answer func(ctx context.Context, user *authn.User, notes authn.Notes, review map[string]any) error

// All are the answers by kind.
func (a Answers) All() map[schema.GroupResource]func(ctx context.Context, user *authn.User, notes authn.Notes, review map[string]any) error {
	out := map[schema.GroupResource]func(context.Context, *authn.User, authn.Notes, map[string]any) error{}
	for plural, f := range map[string]answer{"selfsubjectreviews": a.self, "tokenreviews": a.token} {
		out[schema.GroupResource{Group: "authentication.k8s.io", Resource: plural}] = f
	}
	for plural, f := range map[string]answer{
		"selfsubjectaccessreviews": a.selfAccess, "subjectaccessreviews": a.access, "localsubjectaccessreviews": a.access, "selfsubjectrulesreviews": a.rules,
	} {
		out[schema.GroupResource{Group: "authorization.k8s.io", Resource: plural}] = f
	}
	return out
}

func setStatus(review map[string]any, status any) error {
	data, err := json.Marshal(status)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	review["status"] = tree
	return nil
}

// spec reads the spec of a review.
func spec(review map[string]any, into any) error {
	data, err := object.Encode(review["spec"])
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func (a Answers) self(_ context.Context, user *authn.User, _ authn.Notes, review map[string]any) error {
	review["metadata"] = map[string]any{"creationTimestamp": time.Now().UTC().Format(time.RFC3339)}
	return setStatus(review, &authenticationv1.SelfSubjectReviewStatus{UserInfo: user.Info()})
}

func (a Answers) token(ctx context.Context, _ *authn.User, notes authn.Notes, review map[string]any) error {
	var s authenticationv1.TokenReviewSpec
	if err := spec(review, &s); err != nil {
		return err
	}
	if s.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	status := &authenticationv1.TokenReviewStatus{}
	if len(s.Audiences) > maxAudiences {
		return apierrors.NewBadRequest(fmt.Sprintf("spec.audiences has %d items, of %d at most", len(s.Audiences), maxAudiences))
	}
	audiences := s.Audiences
	if len(audiences) == 0 {
		audiences = a.Audiences
	}
	asked := authn.Request{BearerToken: s.Token, Notes: notes}
	for i, audience := range audiences { // each by itself, to know whom the token is for
		if slices.Contains(audiences[:i], audience) {
			continue
		}
		asked.Audiences, asked.ForAPI = []string{audience}, slices.Contains(a.Audiences, audience)
		if a.judge(ctx, asked, status) {
			status.Audiences = append(status.Audiences, audience)
		}
	}
	if status.Authenticated { // for one is enough
		status.Error = ""
	} else if status.Error == "" {
		status.Error = authn.ErrUnknownToken.Error() // whoever knows it knows it for others
	}
	return setStatus(review, status)
}

// maxAudiences is more than anybody needs: each is asked about.
const maxAudiences = 100

// judge notes whose a token is, if it counts, and tells whether it does.
func (a Answers) judge(ctx context.Context, asked authn.Request, status *authenticationv1.TokenReviewStatus) bool {
	user, ok, err := a.Authenticator.Authenticate(ctx, asked)
	if err != nil {
		status.Error = err.Error()
	}
	if !ok || user == nil {
		return false
	}
	status.Authenticated, status.User = true, user.Info()
	return true
}

func (a Answers) selfAccess(ctx context.Context, user *authn.User, _ authn.Notes, review map[string]any) error {
	var s authorizationv1.SelfSubjectAccessReviewSpec
	if err := spec(review, &s); err != nil {
		return err
	}
	return a.decide(ctx, user, s.ResourceAttributes, s.NonResourceAttributes, review)
}

func (a Answers) access(ctx context.Context, _ *authn.User, _ authn.Notes, review map[string]any) error {
	var s authorizationv1.SubjectAccessReviewSpec
	if err := spec(review, &s); err != nil {
		return err
	}
	about := &authn.User{Name: s.User, UID: s.UID, Groups: s.Groups}
	for k, v := range s.Extra {
		if about.Extra == nil {
			about.Extra = map[string][]string{}
		}
		about.Extra[k] = v
	}
	return a.decide(ctx, about, s.ResourceAttributes, s.NonResourceAttributes, review)
}

func (a Answers) decide(ctx context.Context, user *authn.User, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes, review map[string]any) error {
	at := authz.Attributes{User: user}
	switch {
	case r != nil:
		at.Verb, at.Group, at.Version, at.Resource, at.Subresource = r.Verb, r.Group, r.Version, r.Resource, r.Subresource
		at.Namespace, at.Name, at.ResourceRequest = r.Namespace, r.Name, true
		at.Selectors = authz.ReviewSelectors(r.FieldSelector, r.LabelSelector)
	case n != nil:
		at.Verb, at.Path = n.Verb, n.Path
	}
	status := &authorizationv1.SubjectAccessReviewStatus{}
	var err error
	if j, ok := a.Decider.(authz.Judge); ok {
		var decision authz.Decision
		decision, status.Reason, err = j.Judge(ctx, at)
		status.Allowed, status.Denied = decision == authz.Allow, decision == authz.Deny
	} else {
		status.Allowed, status.Reason, err = a.Authorize(ctx, at)
	}
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return setStatus(review, status)
}

// rules tells what the asker may do.
func (a Answers) rules(_ context.Context, user *authn.User, _ authn.Notes, review map[string]any) error {
	var s authorizationv1.SelfSubjectRulesReviewSpec
	if err := spec(review, &s); err != nil {
		return err
	}
	if s.Namespace == "" {
		return apierrors.NewBadRequest("no namespace on request")
	}
	status := &authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	all, err := a.Rules(user, s.Namespace)
	if err != nil {
		status.EvaluationError, status.Incomplete = err.Error(), errors.Is(err, authz.ErrIncomplete)
	}
	for _, r := range all {
		if len(r.Resources) > 0 {
			status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames,
			})
		}
		if len(r.NonResourceURLs) > 0 {
			status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	review["metadata"], review["spec"] = map[string]any{}, map[string]any{} // which only other answers repeat
	return setStatus(review, status)
}
