package versionpriority

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// The conditions of a VersionPriority.
const (
	// Accepted is whether no other object orders one of its groups.
	Accepted = "Accepted"
	// Ready is whether the module's order is in force for every group.
	Ready = "Ready"
)

// The reasons for which one is not true.
const (
	GroupTaken     = "GroupTaken"
	ModuleMissing  = "ModuleMissing"
	ModuleNotReady = "ModuleNotReady"
	ModuleLoading  = "ModuleLoading"
	HookMissing    = "HookMissing"
	CallFailed     = "CallFailed"
	BadReply       = "BadReply"
)

// orderer is what is known of the module that an object names.
type orderer struct {
	name string
	// identity is another one when the module may answer otherwise.
	identity string
	// reason and message say why it cannot be asked; empty when it can.
	reason, message string
}

// module looks at a module. loading tells that it is worth another look soon.
func (c *Controller) module(ctx context.Context, name string) (m orderer, loading bool, err error) {
	m.name = name
	obj, err := c.objects.Get(ctx, gvr.Modules, "", name)
	if apierrors.IsNotFound(err) {
		m.reason, m.message = ModuleMissing, fmt.Sprintf("there is no WasmModule %q; push it with: wasmgate module push %s file.wasm", name, name)
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	status, _ := c.modules.Status(name)
	if status.Serving == nil {
		if why := module.NotReady(obj); why != "" {
			m.reason, m.message = ModuleNotReady, fmt.Sprintf("module %q is not ready: %s", name, why)
			return m, false, nil
		}
		m.reason, m.message = ModuleLoading, fmt.Sprintf("module %q is being loaded", name)
		return m, true, nil
	}
	m.identity = fmt.Sprintf("%s %s %+v", status.Digest(), status.Serving.Config, status.Serving.Limits)
	if !slices.Contains(status.Hooks, plugins.Prioritize) {
		m.reason, m.message = HookMissing, fmt.Sprintf("module %q does not export %s", name, plugins.Prioritize)
	}
	return m, false, nil
}

// status makes the status of an object. The error is what may be gone when the
// module is asked again.
func (c *Controller) status(ctx context.Context, vp *priority.Object, owners map[string]*priority.Object, m orderer) (next priority.Status, failed error) {
	next = priority.Status{ObservedGeneration: vp.Generation, Conditions: slices.Clone(vp.Status.Conditions)}
	accepted, ready := condition(Accepted), condition(Ready)
	for _, group := range vp.Spec.Groups {
		g := priority.Group{Group: group}
		reason := ""
		if owner := owners[group]; owner != nil && owner.UID != vp.UID {
			reason, g.Message = GroupTaken, fmt.Sprintf("VersionPriority %q, which comes first, orders the group", owner.Name)
			fail(&accepted, reason, group, g.Message)
		} else {
			var err error
			if g, reason, err = c.order(ctx, vp, m, group); err != nil {
				failed = err
			}
		}
		if reason != "" {
			fail(&ready, reason, group, g.Message)
		}
		next.Groups = append(next.Groups, g)
	}
	c.remember(vp.Name, vp.Spec.Groups)
	if accepted.Status == metav1.ConditionTrue {
		accepted.Reason = Accepted
	}
	if ready.Status == metav1.ConditionTrue {
		ready.Reason, ready.Message = "Ordered", fmt.Sprintf("module %q orders every group", m.name)
	}
	for _, c := range []metav1.Condition{accepted, ready} {
		c.Message, c.ObservedGeneration = gvr.Shorten(c.Message), vp.Generation
		meta.SetStatusCondition(&next.Conditions, c)
	}
	return next, failed
}

// order is what becomes of one group that the object orders. While a module is
// being loaded, or is busy, the order that it gave before stays.
func (c *Controller) order(ctx context.Context, vp *priority.Object, m orderer, group string) (g priority.Group, reason string, failed error) {
	g.Group = group
	if m.reason == ModuleLoading {
		g.Versions = vp.Status.Order(group)
	}
	if m.reason != "" {
		g.Message = m.message
		return g, m.reason, nil
	}
	versions, err := c.groups.Versions(ctx, group)
	if err != nil {
		g.Versions, g.Message = vp.Status.Order(group), err.Error()
		return g, CallFailed, err
	}
	if len(versions) == 0 {
		g.Message = "the group serves nothing"
		return g, "", nil
	}
	order, again, err := c.ask(ctx, vp.Name, m, group, versions)
	if err != nil {
		g.Message = gvr.Shorten(err.Error())
		if again { // as while it is being loaded
			g.Versions = vp.Status.Order(group)
			return g, CallFailed, err
		}
		if call := (*plugins.CallError)(nil); !errors.As(err, &call) {
			return g, BadReply, nil
		}
		return g, CallFailed, nil
	}
	g.Versions = order
	return g, "", nil
}

func condition(name string) metav1.Condition {
	return metav1.Condition{Type: name, Status: metav1.ConditionTrue}
}

// fail makes a condition false. The first reason is that of all.
func fail(c *metav1.Condition, reason, group, message string) {
	if c.Status == metav1.ConditionTrue {
		c.Status, c.Reason = metav1.ConditionFalse, reason
	}
	text := group + ": " + message
	if c.Message != "" {
		text = strings.Join([]string{c.Message, text}, "; ")
	}
	c.Message = text
}
