package flowcontrol

import (
	"context"
	"fmt"
	"slices"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Status is what the controller reads and writes.
type Status interface {
	Objects
	client.Getter
}

// Keeper keeps the objects that every cluster has, and says of each schema whether its
// level is there. It runs in one gateway.
type Keeper struct{ objects Status }

// NewKeeper returns the controller.
func NewKeeper(objects Status) *Keeper { return &Keeper{objects} }

// Name implements [controller.Controller].
func (*Keeper) Name() string { return "priority-and-fairness" }

// Watches implements [controller.Controller].
func (*Keeper) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.FlowSchemas, gvr.PriorityLevels}
}

// everything stands for all objects that are kept.
var everything = controller.Key{GroupResource: gvr.PriorityLevels}

// Seeds implements [controller.Seeded].
func (*Keeper) Seeds() []controller.Key { return []controller.Key{everything} }

// Reconcile implements [controller.Controller].
func (k *Keeper) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	switch {
	case key == everything:
		return Keep(ctx, k.objects)
	case key.GroupResource == gvr.FlowSchemas:
		q.Add(everything)
		return k.judge(ctx, key.Name)
	}
	q.Add(everything)
	all, err := k.objects.List(ctx, gvr.FlowSchemas, "")
	for _, o := range all {
		var s fcv1.FlowSchema
		if gvr.Decode(o, &s) == nil && s.Spec.PriorityLevelConfiguration.Name == key.Name {
			q.Add(controller.Key{GroupResource: gvr.FlowSchemas, Name: s.Name})
		}
	}
	return err
}

// judge says of one schema whether its level is there.
func (k *Keeper) judge(ctx context.Context, name string) error {
	obj, err := k.objects.Get(ctx, gvr.FlowSchemas, "", name)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	var s fcv1.FlowSchema
	if err := gvr.Decode(obj, &s); err != nil {
		return err
	}
	_, err = k.objects.Get(ctx, gvr.PriorityLevels, "", s.Spec.PriorityLevelConfiguration.Name)
	if gvr.IgnoreNotFound(err) != nil {
		return err
	}
	if !dangles(&s, apierrors.IsNotFound(err), time.Now()) {
		return nil
	}
	if err := gvr.SetStatus(obj, &s.Status); err != nil {
		return err
	}
	_, err = k.objects.Update(ctx, gvr.FlowSchemas, "status", obj)
	return gvr.IgnoreNotFound(err)
}

// dangles writes into a schema whether its level is missing, and reports whether it did
// not say so before.
func dangles(s *fcv1.FlowSchema, missing bool, now time.Time) bool {
	level := s.Spec.PriorityLevelConfiguration.Name
	c := fcv1.FlowSchemaCondition{Type: fcv1.FlowSchemaConditionDangling, Status: fcv1.ConditionFalse, Reason: "Found", LastTransitionTime: metav1.NewTime(now),
		Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level)}
	if missing {
		c.Status, c.Reason = fcv1.ConditionTrue, "NotFound"
		c.Message = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)
	}
	i := slices.IndexFunc(s.Status.Conditions, func(x fcv1.FlowSchemaCondition) bool { return x.Type == c.Type })
	if i < 0 {
		s.Status.Conditions = append(s.Status.Conditions, c)
		return true
	}
	was := &s.Status.Conditions[i]
	if was.Status == c.Status && was.Reason == c.Reason && was.Message == c.Message {
		return false
	}
	if was.Status == c.Status {
		c.LastTransitionTime = was.LastTransitionTime
	}
	*was = c
	return true
}
