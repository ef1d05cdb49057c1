package serviceaccount

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/kinds/sent"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// maxAudiences is more than anybody needs.
const maxAudiences = 100

// Judge lets admission change and judge what a client sends. An error is the
// client's.
type Judge interface {
	Judge(ctx context.Context, t resource.Target, s resource.Sent, o resource.WriteOptions) error
}

// Question is the subresource of an account that is asked for tokens.
type Question struct {
	Tokens *Tokens
	Judge  Judge
}

// Answer returns the request with a token.
func (q Question) Answer(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (any, error) {
	wanted, err := read(sent.Body{ContentType: contentType, Data: body, Options: o}, t)
	if err != nil {
		return nil, err
	}
	var account *unstructured.Unstructured
	now := q.Tokens.now()
	if err := q.Judge.Judge(ctx, t, resource.Sent{Kind: requestKind, Object: wanted, Prepare: func(ctx context.Context) error {
		account, err = q.Tokens.complete(ctx, wanted, t, now)
		return err
	}}, o); err != nil {
		return nil, err
	}
	c, err := q.Tokens.claims(ctx, wanted, account, now)
	if err != nil {
		return nil, err
	}
	q.Tokens.lasts(&c, &wanted.Spec, o)
	wanted.APIVersion, wanted.Kind = requestKind.ToAPIVersionAndKind()
	wanted.Status = authenticationv1.TokenRequestStatus{ExpirationTimestamp: metav1.NewTime(now.Add(seconds(*wanted.Spec.ExpirationSeconds)))}
	if !o.DryRun {
		if wanted.Status.Token, err = q.Tokens.Key.write(c); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	return wanted, nil
}

var requestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// read is the request, with defaults.
func read(body sent.Body, t resource.Target) (*authenticationv1.TokenRequest, error) {
	wanted := &authenticationv1.TokenRequest{}
	if err := sent.Read(body, wanted, t, requestKind.Kind, requestKind.GroupVersion()); err != nil {
		return nil, err
	}
	if wanted.Spec.ExpirationSeconds == nil {
		seconds := int64(lasts)
		wanted.Spec.ExpirationSeconds = &seconds
	}
	return wanted, nil
}

// complete finds the account that a token is wanted for, writes into the request
// what it leaves out, and validates it.
func (t *Tokens) complete(ctx context.Context, wanted *authenticationv1.TokenRequest, of resource.Target, now time.Time) (*unstructured.Unstructured, error) {
	if err := validateMetadata(wanted, of); err != nil {
		return nil, err
	}
	if err := t.Objects.Fresh(ctx); err != nil { // the account may have been made just now
		return nil, err
	}
	account, err := t.Objects.Get(ctx, accounts, of.Namespace, of.Name)
	if err != nil {
		return nil, err
	}
	if wanted.UID != "" && wanted.UID != account.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: requestKind.Group, Resource: requestKind.Kind}, of.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", wanted.UID, account.GetUID()))
	}
	if len(wanted.Spec.Audiences) == 0 {
		wanted.Spec.Audiences = slices.Clone(t.Audiences)
	}
	wanted.Name, wanted.Namespace, wanted.UID, wanted.CreationTimestamp = of.Name, of.Namespace, account.GetUID(), metav1.NewTime(now)
	wanted.Status = authenticationv1.TokenRequestStatus{}
	return account, validateSpec(&wanted.Spec)
}

// validateMetadata words refusals as kube-apiserver does.
func validateMetadata(wanted *authenticationv1.TokenRequest, t resource.Target) error {
	var errs field.ErrorList
	if n := wanted.Name; n != "" && n != t.Name {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), n, "must match the service account name if specified"))
	}
	if n := wanted.Namespace; n != "" && n != t.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "namespace"), n, "must match the service account namespace if specified"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(requestKind.GroupKind(), t.Name, errs)
	}
	return nil
}

// validateSpec does so, too.
func validateSpec(wanted *authenticationv1.TokenRequestSpec) error {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	switch seconds, path := wanted.ExpirationSeconds, spec.Child("expirationSeconds"); {
	case seconds == nil:
		errs = append(errs, field.Required(path, ""))
	case *seconds < leastLasts:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration less than 10 minutes"))
	case *seconds > mostLasts:
		errs = append(errs, field.Invalid(path, *seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	if n := len(wanted.Audiences); n > maxAudiences {
		errs = append(errs, field.TooMany(spec.Child("audiences"), n, maxAudiences))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(requestKind.GroupKind(), "", errs)
	}
	return nil
}

// boundKind is a kind that tokens may be bound to, and where a token says so.
type boundKind struct {
	kind      string
	gr        schema.GroupResource
	namespace string
	into      **reference
}

// claims are what the token for a request says, but for its end.
func (t *Tokens) claims(ctx context.Context, wanted *authenticationv1.TokenRequest, account *unstructured.Unstructured, now time.Time) (claims, error) {
	namespace := account.GetNamespace()
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Audience: wanted.Spec.Audiences, Issuer: t.Issuers[0], ID: string(uuid.NewUUID()), Subject: userPrefix + namespace + ":" + account.GetName(),
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now),
		},
		About: about{Namespace: namespace, Account: reference{account.GetName(), string(account.GetUID())}},
	}
	to := wanted.Spec.BoundObjectRef
	if to == nil {
		return c, nil
	}
	kinds := []boundKind{{"Pod", pods, namespace, &c.About.Pod}, {"Secret", secrets, namespace, &c.About.Secret}, {"Node", nodes, "", &c.About.Node}}
	i := slices.IndexFunc(kinds, func(k boundKind) bool { return k.kind == to.Kind && to.APIVersion == "v1" })
	if i < 0 {
		return c, apierrors.NewBadRequest("cannot bind token to object of type " + schema.FromAPIVersionAndKind(to.APIVersion, to.Kind).String())
	}
	bound, err := t.Objects.Get(ctx, kinds[i].gr, kinds[i].namespace, to.Name)
	if err != nil {
		return c, err
	}
	if name, _, _ := unstructured.NestedString(bound.Object, "spec", "serviceAccountName"); to.Kind == "Pod" && name != account.GetName() {
		return c, apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.GetName()))
	}
	if to.UID != "" && to.UID != bound.GetUID() {
		return c, otherUID(kinds[i].gr, to.Name, to.UID)
	}
	*kinds[i].into = &reference{to.Name, string(bound.GetUID())}
	if to.Kind == "Pod" {
		c.About.Node, err = t.nodeOf(ctx, bound)
	}
	return c, err
}

// nodeOf is the node of a pod, as tokens of the pod name it; nil of a pod without one. A node
// that there is no object of has its name alone.
func (t *Tokens) nodeOf(ctx context.Context, pod *unstructured.Unstructured) (*reference, error) {
	name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	if name == "" {
		return nil, nil
	}
	node, err := t.Objects.Get(ctx, nodes, "", name)
	switch {
	case apierrors.IsNotFound(err):
		return &reference{Name: name}, nil
	case err != nil:
		return nil, err
	}
	return &reference{name, string(node.GetUID())}, nil
}

func otherUID(gr schema.GroupResource, name string, asked types.UID) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", asked))
}
