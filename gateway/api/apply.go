package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// apply answers a patch whose body is a configuration to apply.
func (h *Handler) apply(ctx context.Context, c *Call, t resource.Target, media string, o resource.WriteOptions) (*resource.Written, error) {
	body, err := c.applied(media)
	if err != nil {
		return nil, err
	}
	config, err := configuration(body, &o)
	if err != nil {
		return nil, err
	}
	o.MayCreate = mayCreate(h.Authorizer, c)
	return h.Engine.Apply(ctx, t, config, o)
}

// configuration reads the body of an apply, YAML or JSON, and adds to o what it
// repeats.
func configuration(body []byte, o *resource.WriteOptions) (map[string]any, error) {
	if config, repeated, err := object.Parse(body); err == nil && len(repeated) == 0 {
		return config, nil
	}
	data, err := yamlToJSON(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: error converting YAML to JSON: %v", err))
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return map[string]any{}, nil
	}
	config, _, err := object.Parse(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: error unmarshaling JSON: while decoding JSON: %v", err))
	}
	noteRepeated(body, "error converting YAML to JSON: ", o)
	return config, nil
}

// mayCreate authorizes the creation that an update or an apply turns into when
// the object is absent.
func mayCreate(by authz.Authorizer, c *Call) func(ctx context.Context, name string) error {
	return func(ctx context.Context, name string) error {
		i := &c.Info
		allowed, reason, err := by.Authorize(ctx, authz.Attributes{
			User: c.Caller.User, Verb: "create", Group: i.Group, Version: i.Version, Resource: i.Plural, Subresource: i.Subresource,
			Namespace: i.Namespace, Name: name, Path: i.Path, ResourceRequest: true,
		})
		switch {
		case err != nil:
			return apierrors.NewInternalError(err)
		case !allowed:
			return apierrors.NewForbidden(schema.GroupResource{Group: i.Group, Resource: i.Plural}, name, errors.New(reason))
		}
		return nil
	}
}
