package guardreport

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// The life of a report, which is that of a gateway's lease.
const (
	renewEvery = 10 * time.Second
	// gone is how old the report of a gateway is that counts no more, and forgotten how
	// old one is that is deleted.
	gone      = 3 * renewEvery
	forgotten = time.Hour
)

var reports = schema.GroupResource{Group: "wasmgate.dev", Resource: "guardreports"}

// Keeper is what reports are kept with.
type Keeper interface {
	client.Lister
	client.Creator
	client.Updater
	client.Deleter
}

// Reporter reports the guards of one gateway. It is not safe for concurrent use.
type Reporter struct {
	objects       Keeper
	guards        *guards.Guards
	gateway, name string
	drift         func(plugin string, gateways int)
	now           func() time.Time
	// counted are the plugins of which it was told how many gateways differ.
	counted map[string]int
}

// New reports what the gateway that is called gateway has; drift is told how many others
// have other guards of a plugin.
func New(objects Keeper, all *guards.Guards, gateway string, drift func(plugin string, gateways int)) *Reporter {
	return &Reporter{objects: objects, guards: all, gateway: gateway, name: kinds.Identity(gateway), drift: drift, now: time.Now, counted: map[string]int{}}
}

// Report compares the guards of this gateway with those of others, and says which there
// are, unless there are none anywhere.
func (r *Reporter) Report(ctx context.Context) error {
	all, err := r.objects.List(ctx, reports, "")
	if err != nil {
		return err
	}
	var own *unstructured.Unstructured
	var was status
	var others []status
	for _, obj := range all {
		var o struct {
			Status status `json:"status"`
		}
		if err := gvr.Decode(obj, &o); err != nil {
			return err
		}
		switch age := r.now().Sub(o.Status.RenewTime.Time); {
		case obj.GetName() == r.name:
			own, was = obj, o.Status
		case age < gone:
			others = append(others, o.Status)
		case age > forgotten:
			uid := obj.GetUID()
			if err := r.objects.Delete(ctx, reports, "", obj.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); gvr.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	if own == nil && len(others) == 0 && len(r.guards.All()) == 0 {
		return nil
	}
	return r.write(ctx, own, was, r.found(was, others))
}

// Leave deletes the report: the gateway ends.
func (r *Reporter) Leave(ctx context.Context) error {
	return gvr.IgnoreNotFound(r.objects.Delete(ctx, reports, "", r.name, metav1.DeleteOptions{}))
}

// found is what there is to say; was is what was said last.
func (r *Reporter) found(was status, others []status) status {
	s := status{Gateway: r.gateway, Conditions: was.Conditions}
	for _, plugin := range slices.Sorted(maps.Keys(r.guards.All())) {
		s.Folders = append(s.Folders, folderOf(plugin, r.guards.Folder(plugin)))
	}
	s.condition("InForce", r.guards.Check(context.Background()), metav1.ConditionFalse, "AsOnDisk", "FolderRefused")
	s.condition("Drift", r.differs(s, others), metav1.ConditionTrue, "SameEverywhere", "OthersDiffer")
	return s
}

// differs tells from which gateways the guards here differ, nil for none.
func (r *Reporter) differs(s status, others []status) error {
	here, n := s.hashes(), map[string]int{}
	for plugin := range r.counted {
		n[plugin] = 0
	}
	for plugin := range here {
		n[plugin] = 0
	}
	var says []string
	for _, o := range others {
		there := o.hashes()
		all := maps.Clone(here)
		maps.Copy(all, there)
		for _, plugin := range slices.Sorted(maps.Keys(all)) {
			if here[plugin] != there[plugin] {
				n[plugin]++
				says = append(says, fmt.Sprintf("%s is %s here, and %s in %s", plugin, named(here[plugin]), named(there[plugin]), o.Gateway))
			}
		}
	}
	for plugin, gateways := range n {
		r.drift(plugin, gateways)
	}
	r.counted = n
	if says == nil {
		return nil
	}
	return fmt.Errorf("%s", gvr.Shorten(strings.Join(says, "; ")))
}

func named(hash string) string {
	if hash == "" {
		return "nothing"
	}
	return hash
}

// write writes what is new, or that the gateway is there still.
func (r *Reporter) write(ctx context.Context, own *unstructured.Unstructured, was, s status) error {
	s.RenewTime = was.RenewTime
	if own != nil && r.now().Sub(was.RenewTime.Time) < renewEvery && equality.Semantic.DeepEqual(was, s) {
		return nil
	}
	s.RenewTime = metav1.NewTime(r.now())
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s)
	if err != nil {
		return err
	}
	if own == nil {
		own = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "GuardReport", "status": tree}}
		own.SetName(r.name)
		_, err = r.objects.Create(ctx, reports, own)
	} else {
		own.Object["status"] = tree
		_, err = r.objects.Update(ctx, reports, "", own)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return nil // the next time
	}
	return err
}
