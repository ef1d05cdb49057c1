package bootstraptoken

import (
	"context"
	"crypto/subtle"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cluster-bootstrap/token/api"
	secretutil "k8s.io/cluster-bootstrap/util/secrets"
	tokenutil "k8s.io/cluster-bootstrap/util/tokens"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

var secrets = schema.GroupResource{Resource: "secrets"}

// Tokens believes tokens. It is an [authn.Authenticator].
type Tokens struct {
	// Objects are the Secrets.
	Objects client.Getter
}

// Authenticate implements [authn.Authenticator]. Like kube-apiserver it does not tell why
// a token does not count: who may guess would learn which there are.
func (t Tokens) Authenticate(ctx context.Context, r authn.Request) (*authn.User, bool, error) {
	id, said, err := tokenutil.ParseToken(r.BearerToken)
	if err != nil || r.ForOthers() {
		return nil, false, nil // it is a token of others, or for them
	}
	stored, err := t.Objects.Get(ctx, secrets, metav1.NamespaceSystem, api.BootstrapTokenSecretPrefix+id)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &secret); err != nil {
		return nil, false, err
	}
	if !counts(&secret, id, said) {
		return nil, false, nil
	}
	groups, err := secretutil.GetGroups(&secret)
	if err != nil {
		return nil, false, nil
	}
	return authn.NewUser(authn.User{Name: api.BootstrapUserPrefix + id, Groups: groups}), true, nil
}

// counts reports whether a Secret has a token that authenticates now.
func counts(s *corev1.Secret, id, said string) bool {
	is := func(key, want string) bool { return secretutil.GetData(s, key) == want }
	return s.DeletionTimestamp == nil && s.Type == api.SecretTypeBootstrapToken &&
		subtle.ConstantTimeCompare([]byte(secretutil.GetData(s, api.BootstrapTokenSecretKey)), []byte(said)) == 1 &&
		is(api.BootstrapTokenIDKey, id) && is(api.BootstrapTokenUsageAuthentication, "true") &&
		!secretutil.HasExpired(s, time.Now())
}
