package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// consent refuses a revision with such hooks if it drops one that something
// refers to: what the binding promised when it was written would end without a
// word to whoever relies on it.
func (c *Controller) consent(ctx context.Context, obj *unstructured.Unstructured, hooks []plugins.Hook) error {
	dropped := slices.DeleteFunc(c.hooksBefore(obj), func(h plugins.Hook) bool { return slices.Contains(hooks, h) })
	if len(dropped) == 0 {
		return nil
	}
	users, err := module.ReferredBy(ctx, c.objects, obj.GetName(), dropped...)
	if err != nil || len(users) == 0 {
		return err
	}
	names := make([]string, len(dropped))
	for i, h := range dropped {
		names[i] = string(h)
	}
	return &plugins.LoadError{Module: obj.GetName(), Reason: plugins.HookInUse,
		Detail: fmt.Sprintf("it lacks %s, which the previous content has, and which is used by %s; change or delete these first", strings.Join(names, ", "), module.FirstNames(users))}
}

// hooksBefore are those of the revision that serves, or served last. They are
// the caller's.
func (c *Controller) hooksBefore(obj *unstructured.Unstructured) []plugins.Hook {
	if status := c.serving(obj.GetName()); status.Serving != nil {
		return status.Hooks
	}
	var hooks []plugins.Hook
	names, _, _ := unstructured.NestedStringSlice(gvr.Section(obj, "status"), "hooks")
	for _, n := range names {
		hooks = append(hooks, plugins.Hook(n))
	}
	return hooks
}

// refusedBefore tells why the last revision that was refused still is; nil when
// it is worth another try.
func (c *Controller) refusedBefore(ctx context.Context, obj *unstructured.Unstructured, m *loaded) (*module.Refusal, error) {
	if m.has == nil {
		return m.refusedFor, nil
	}
	err := c.consent(ctx, obj, m.has)
	var refused *plugins.LoadError
	if errors.As(err, &refused) {
		return c.refusalOf(obj.GetName(), refused)
	}
	return nil, err
}

// awaited are the kinds whose objects may take a problem away.
func awaited(problem *module.Refusal) (scopes []controller.Scope) {
	switch {
	case problem == nil:
	case problem.Reason == string(plugins.HookInUse):
		for gr := range module.Referring() {
			scopes = append(scopes, controller.Scope{GroupResource: gr})
		}
	case problem.Reason == module.FieldsLost, problem.Reason == module.AwaitingProof:
		scopes = append(scopes, controller.Scope{GroupResource: gvr.Definitions})
	}
	return scopes
}
