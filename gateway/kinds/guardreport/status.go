package guardreport

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// maxShown is how many bytes of objects a report has of a folder; of a larger one it has
// names.
const maxShown = 256 << 10

// status is that of a GuardReport.
type status struct {
	Gateway    string             `json:"gateway,omitempty"`
	RenewTime  metav1.Time        `json:"renewTime,omitempty"`
	Folders    []folder           `json:"folders,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type folder struct {
	Plugin  string  `json:"plugin"`
	Path    string  `json:"path,omitempty"`
	Hash    string  `json:"hash,omitempty"`
	Objects []guard `json:"objects,omitempty"`
}

type guard struct {
	Kind          string         `json:"kind,omitempty"`
	Namespace     string         `json:"namespace,omitempty"`
	Name          string         `json:"name,omitempty"`
	ContentDigest string         `json:"contentDigest,omitempty"`
	Object        map[string]any `json:"object,omitempty"`
}

func (s *status) hashes() map[string]string {
	all := map[string]string{}
	for _, f := range s.Folders {
		all[f.Plugin] = f.Hash
	}
	return all
}

// condition sets one, whose status is bad where err says something.
func (s *status) condition(kind string, err error, bad metav1.ConditionStatus, fine, wrong string) {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: fine}
	if bad == metav1.ConditionTrue {
		c.Status = metav1.ConditionFalse
	}
	if err != nil {
		c.Status, c.Reason, c.Message = bad, wrong, gvr.Shorten(err.Error())
	}
	s.Conditions = append([]metav1.Condition(nil), s.Conditions...)
	meta.SetStatusCondition(&s.Conditions, c)
}

// folderOf is what a report says of one.
func folderOf(plugin string, f *guards.Folder) folder {
	now := f.Current()
	out := folder{Plugin: plugin, Path: f.Path(), Hash: now.Hash}
	size := 0
	for _, o := range now.Objects {
		g := guard{Kind: o.GroupVersionKind().GroupKind().String(), Namespace: o.GetNamespace(), Name: o.GetName(), Object: shown(o)}
		switch {
		case o.Content != nil:
			g.ContentDigest = signature.Digest(o.Content)
		case o.Parameter: // which may be a Secret, or what only few may read
			g.Object = nil
			if data, err := object.Encode(o.Object); err == nil {
				g.ContentDigest = signature.Digest(data)
			}
		}
		if data, err := object.Encode(g.Object); err == nil {
			size += len(data)
		}
		out.Objects = append(out.Objects, g)
	}
	if size > maxShown {
		for i := range out.Objects {
			out.Objects[i].Object = nil
		}
	}
	return out
}

// shown is an object without the content of a module.
func shown(o guards.Object) map[string]any {
	out := o.DeepCopy()
	if o.GetKind() == "WasmModule" {
		unstructured.RemoveNestedField(out.Object, "spec", "source", "inline")
	}
	unstructured.RemoveNestedField(out.Object, "metadata", "managedFields")
	return out.Object
}
