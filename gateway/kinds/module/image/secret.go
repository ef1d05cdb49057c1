package image

import (
	"context"
	"encoding/base64"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// loginType and loginKey are where a Secret keeps the text of a docker config
// file.
const (
	loginType = "kubernetes.io/dockerconfigjson"
	loginKey  = ".dockerconfigjson"
)

// login reads the credentials of a Secret. What it says never quotes them.
func (c *Controller) login(ctx context.Context, name types.NamespacedName) ([]byte, error) {
	refuse := func(format string, args ...any) error {
		return &Refusal{Reason: "PullSecretInvalid", Message: fmt.Sprintf("secret %s ", name) + fmt.Sprintf(format, args...)}
	}
	secret, err := c.objects.Get(ctx, gvr.Secrets, name.Namespace, name.Name)
	if apierrors.IsNotFound(err) {
		return nil, refuse("does not exist")
	}
	if err != nil {
		return nil, err
	}
	if is, _ := secret.Object["type"].(string); is != loginType {
		return nil, refuse("has the type %q, not %s", is, loginType)
	}
	text, _, _ := unstructured.NestedString(secret.Object, "data", loginKey)
	config, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(config) == 0 {
		return nil, refuse("has no %s", loginKey)
	}
	return config, nil
}
