package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
)

// hooks are those that are asked by a review of each kind.
var hooks = map[string]plugins.Hook{
	"AdmissionReview": plugins.Admit, "VersionPriorityReview": plugins.Prioritize, "ConversionReview": plugins.Convert,
}

// Answer implements [workbench.Measuring].
func (Tools) Answer(ctx context.Context, what workbench.Request) (out workbench.Answer, err error) {
	kind, _ := object.String(object.Field(what.Review, "kind"))
	hook, ok := hooks[kind]
	switch {
	case !ok:
		return out, fmt.Errorf("the request is of kind %q, and no hook is asked by that: want one of %s", kind, strings.Join(slices.Sorted(maps.Keys(hooks)), ", "))
	case object.Field(what.Review, "request") == nil:
		return out, fmt.Errorf("the %s has no request", kind)
	}
	there, grants, err := shelf(what.Objects)
	if err != nil {
		return out, err
	}
	watch := &seen{}
	r, err := loadSeen(ctx, what.Module, watch)
	if err != nil {
		return out, err
	}
	defer r.close()
	if r.modules == nil {
		return out, fmt.Errorf("%s has rules, which convert and have no hooks: use wasmgate convert", what.Name)
	}
	r.modules.Grant(what.Name, grants)
	watch.since() // what it cost to start
	took, began := time.Duration(0), time.Now()
	accept := func(reply []byte) error {
		out.Reply, took = string(reply), time.Since(began)
		return nil
	}
	if hook == plugins.Admit {
		_, err = r.modules.Admit(ctx, what.Name, what.Review, there, accept)
	} else {
		err = r.modules.Call(ctx, what.Name, hook, what.Review, accept)
	}
	if out.Took = took; err != nil {
		out.Problem, out.Stack, out.Took = err.Error(), stackOf(err), time.Since(began)
	}
	out.Hook, out.Refused = string(hook), refused([]byte(out.Reply))
	out.Fuel, out.Memory, out.Log = watch.since()
	return out, ctx.Err()
}

// stackOf is where in the guest a call failed, if the runtime says it.
func stackOf(err error) string {
	var call *plugins.CallError
	if !errors.As(err, &call) || call.Cause == nil {
		return ""
	}
	_, stack, _ := strings.Cut(call.Cause.Error(), "wasm stack trace:\n")
	lines := strings.Split(strings.TrimRight(stack, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// refused is what a reply says against the request, "" if nothing.
func refused(reply []byte) string {
	response := object.Field(reply, "response")
	status := object.Field(response, "status")
	if string(object.Field(response, "allowed")) != "false" {
		if status = object.Field(response, "result"); status == nil {
			return ""
		}
		if s, _ := object.String(object.Field(status, "status")); s == "" || s == "Success" {
			return ""
		}
	}
	if message, _ := object.String(object.Field(status, "message")); message != "" {
		return message
	}
	return "no reason is given"
}

// shelf are objects that a module may look up, by the name that a request has for them;
// kinds are told by the usual plural.
func shelf(objects [][]byte) (plugins.Lookup, []plugins.Grant, error) {
	all := map[plugins.Object][]byte{}
	var grants []plugins.Grant
	for _, data := range objects {
		tree, _, err := object.Parse(data)
		if err != nil {
			return nil, nil, err
		}
		apiVersion, _ := tree["apiVersion"].(string)
		kind, _ := tree["kind"].(string)
		gv, err := schema.ParseGroupVersion(apiVersion)
		name, _ := object.Child(tree, "metadata")["name"].(string)
		namespace, _ := object.Child(tree, "metadata")["namespace"].(string)
		if err != nil || kind == "" || name == "" {
			return nil, nil, fmt.Errorf("an object to look up needs apiVersion, kind and metadata.name: %.100s", data)
		}
		plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
		o := plugins.Object{Group: gv.Group, Resource: plural.Resource, Namespace: namespace, Name: name}
		all[o] = data
		grants = append(grants, plugins.Grant{Group: o.Group, Resource: o.Resource, Namespace: namespace, Names: []string{"*"}})
	}
	return func(_ context.Context, o plugins.Object) ([]byte, error) {
		if data, ok := all[o]; ok {
			return data, nil
		}
		return nil, plugins.ErrNoObject
	}, grants, nil
}
