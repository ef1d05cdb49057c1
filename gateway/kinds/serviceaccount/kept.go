package serviceaccount

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keptIssuer is who signs tokens that are kept in Secrets of the type
// kubernetes.io/service-account-token: kube-controller-manager, with the key of
// the server.
const keptIssuer = "kubernetes/serviceaccount"

// invalidSince is the label of a Secret whose token was declared invalid.
const invalidSince = "kubernetes.io/legacy-token-invalid-since"

// kept is what a token says that is kept in a Secret. It has no audience and no
// end: it counts while the Secret holds it.
type kept struct {
	Namespace  string `json:"kubernetes.io/serviceaccount/namespace,omitempty"`
	Secret     string `json:"kubernetes.io/serviceaccount/secret.name,omitempty"`
	Account    string `json:"kubernetes.io/serviceaccount/service-account.name,omitempty"`
	AccountUID string `json:"kubernetes.io/serviceaccount/service-account.uid,omitempty"`
}

// believeKept tells why a signed token that is kept in a Secret does not count.
func (t *Tokens) believeKept(c *claims, token string) error {
	k := &c.kept
	switch {
	case k.Namespace == "" || k.Secret == "" || k.Account == "" || k.AccountUID == "":
		return errors.New("it does not say in which secret it is kept, and for whom")
	case c.Subject != userPrefix+k.Namespace+":"+k.Account:
		return errors.New("its subject is not the account")
	}
	secret, err := t.Objects.Get(context.Background(), secrets, k.Namespace, k.Secret)
	switch {
	case apierrors.IsNotFound(err) || err == nil && secret.GetDeletionTimestamp() != nil:
		return errors.New("the secret that it was kept in is gone")
	case err != nil:
		return err
	case !holds(secret, token):
		return errors.New("the secret that it was kept in holds another")
	case secret.GetLabels()[invalidSince] != "":
		return fmt.Errorf("the secret that it is kept in has the label %s", invalidSince)
	}
	account, err := t.Objects.Get(context.Background(), accounts, k.Namespace, k.Account)
	switch {
	case apierrors.IsNotFound(err) || err == nil && (account.GetDeletionTimestamp() != nil || string(account.GetUID()) != k.AccountUID):
		return errors.New("the account that it is for is gone")
	case err != nil:
		return err
	}
	c.About = about{Namespace: k.Namespace, Account: reference{Name: k.Account, UID: k.AccountUID}}
	return nil
}

// holds reports whether a secret has a token as its token.
func holds(secret *unstructured.Unstructured, token string) bool {
	text, _, _ := unstructured.NestedString(secret.Object, "data", "token")
	data, err := base64.StdEncoding.DecodeString(text)
	return err == nil && subtle.ConstantTimeCompare(data, []byte(token)) == 1
}
