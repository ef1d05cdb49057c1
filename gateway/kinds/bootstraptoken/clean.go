package bootstraptoken

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cluster-bootstrap/token/api"
	secretutil "k8s.io/cluster-bootstrap/util/secrets"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Cleans is what the cleaner reads and deletes.
type Cleans interface {
	client.Getter
	client.Deleter
}

// Cleaner is the controller that deletes tokens that have expired. It runs in one gateway.
type Cleaner struct{ Objects Cleans }

// Name implements [controller.Controller].
func (*Cleaner) Name() string { return "token-cleaner" }

// Watches implements [controller.Controller].
func (*Cleaner) Watches() []schema.GroupResource { return []schema.GroupResource{secrets} }

// Reconcile implements [controller.Controller].
func (c *Cleaner) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.Namespace != metav1.NamespaceSystem {
		return nil
	}
	stored, err := c.Objects.Get(ctx, secrets, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if kind, _ := stored.Object["type"].(string); kind != string(api.SecretTypeBootstrapToken) {
		return nil
	}
	var s corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &s); err != nil {
		return err
	}
	left, expired := secretutil.GetExpiration(&s, time.Now())
	if !expired {
		if left > 0 {
			q.AddAfter(key, left)
		}
		return nil
	}
	err = c.Objects.Delete(ctx, secrets, s.Namespace, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID, ResourceVersion: &s.ResourceVersion}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
