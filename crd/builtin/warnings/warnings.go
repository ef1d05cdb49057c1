// Package warnings owns what the clients of valid objects of Kubernetes' own kinds are
// told: fields and annotations that have no effect any more, and values that are taken
// and probably not meant, in kube-apiserver's words.
//
// It must not know who asks. Trees are only read.
package warnings

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Warn finds the warnings about an object; old is nil of one that is created.
type Warn func(obj, old map[string]any) []string

// most is how many warnings of one object there are: a client gets no more than a
// few thousand bytes of them.
const most = 100

// Of is what finds those of a kind, nil where there are none.
func Of(gr schema.GroupResource) Warn {
	warn := about[gr]
	if warn == nil {
		return nil
	}
	return func(obj, old map[string]any) []string {
		t := &told{}
		warn(t, obj, old)
		return t.all
	}
}

var about = map[schema.GroupResource]func(t *told, obj, old map[string]any){
	{Resource: "pods"}:                                          aboutPod,
	{Resource: "podtemplates"}:                                  ofTemplate("", "template"),
	{Resource: "replicationcontrollers"}:                        ofTemplate(podNames, "spec", "template"),
	{Group: "apps", Resource: "replicasets"}:                    ofTemplate(podNames, "spec", "template"),
	{Group: "apps", Resource: "deployments"}:                    ofTemplate(podNames, "spec", "template"),
	{Group: "apps", Resource: "daemonsets"}:                     ofTemplate("", "spec", "template"),
	{Group: "apps", Resource: "statefulsets"}:                   aboutStatefulSet,
	{Group: "batch", Resource: "jobs"}:                          ofJob("spec"),
	{Group: "batch", Resource: "cronjobs"}:                      ofJob("spec", "jobTemplate", "spec"),
	{Resource: "services"}:                                      aboutService,
	{Resource: "endpoints"}:                                     aboutEndpoints,
	{Group: "discovery.k8s.io", Resource: "endpointslices"}:     aboutSlice,
	{Group: "networking.k8s.io", Resource: "ingresses"}:         aboutIngress,
	{Group: "networking.k8s.io", Resource: "networkpolicies"}:   aboutPolicy,
	{Resource: "nodes"}:                                         aboutNode,
	{Group: "node.k8s.io", Resource: "runtimeclasses"}:          aboutRuntimeClass,
	{Resource: "persistentvolumes"}:                             aboutVolume,
	{Resource: "persistentvolumeclaims"}:                        aboutClaim,
	{Group: "storage.k8s.io", Resource: "storageclasses"}:       aboutStorageClass,
	{Group: "storage.k8s.io", Resource: "csistoragecapacities"}: aboutCapacity,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:           aboutDriver,
	{Resource: "resourcequotas"}:                                aboutQuota,
}

// told are the warnings so far.
type told struct{ all []string }

func (t *told) say(format string, args ...any) {
	if len(t.all) < most {
		t.all = append(t.all, fmt.Sprintf(format, args...))
	}
}

// full tells that no more are told.
func (t *told) full() bool { return len(t.all) >= most }

// deprecated warns of what an object has of fields or annotations that it should not;
// each is followed by the words about it.
func (t *told) deprecated(of map[string]any, at func(name string) *field.Path, words ...string) {
	for i := 0; i+1 < len(words); i += 2 {
		if _, has := of[words[i]]; has {
			t.say("%s: %s", at(words[i]), words[i+1])
		}
	}
}

// annotations are those of an object or a template.
func annotations(of map[string]any) map[string]any {
	return object.Child(object.Child(of, "metadata"), "annotations")
}

// podNames is why a name should be that of a host.
const podNames = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v"

// hostname warns of a name that no host can have.
func (t *told) hostname(obj map[string]any, why string) {
	if why == "" {
		return
	}
	if msgs := validation.IsDNS1123Label(object.TextAt(object.Child(obj, "metadata"), "name")); len(msgs) > 0 {
		t.say(why, msgs)
	}
}

// same tells that the generation of an object has not changed, so that its templates
// have not either.
func same(obj, old map[string]any) bool {
	return old != nil && object.Child(obj, "metadata")["generation"] == object.Child(old, "metadata")["generation"]
}

// list are the objects of a list, nil for what is none.
func list(of map[string]any, name string) []map[string]any {
	all, _ := of[name].([]any)
	out := make([]map[string]any, len(all))
	for i, v := range all {
		out[i], _ = v.(map[string]any)
	}
	return out
}

// texts are the texts of a list.
func texts(of map[string]any, name string) []string {
	all, _ := of[name].([]any)
	out := make([]string, len(all))
	for i, v := range all {
		out[i], _ = v.(string)
	}
	return out
}

// child is what is at a path of names.
func child(of map[string]any, names ...string) map[string]any {
	for _, name := range names {
		of = object.Child(of, name)
	}
	return of
}

// keys are those of a map, in order.
func keys(of map[string]any) []string {
	out := make([]string, 0, len(of))
	for k := range of {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
