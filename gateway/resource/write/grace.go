package write

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
)

// takesTime tells that a deletion is under way that gives whoever acts on the
// object some time; a deletion without any ends it.
func takesTime(obj *unstructured.Unstructured) bool {
	seconds := obj.GetDeletionGracePeriodSeconds()
	return obj.GetDeletionTimestamp() != nil && seconds != nil && *seconds > 0
}

// begin marks obj as being deleted, in so many seconds.
func begin(obj *unstructured.Unstructured, seconds int64) {
	at := metav1.NewTime(time.Now().Add(time.Duration(seconds) * time.Second)).Rfc3339Copy()
	obj.SetDeletionTimestamp(&at)
	if g := obj.GetGeneration(); g > 0 {
		obj.SetGeneration(g + 1)
	}
}

// shorten makes a deletion that takes time take less of it, and tells whether it
// does: nobody can make it longer.
func shorten(obj *unstructured.Unstructured, asked *int64) bool {
	has := *obj.GetDeletionGracePeriodSeconds()
	if asked == nil || *asked >= has {
		return false
	}
	at := metav1.NewTime(obj.GetDeletionTimestamp().Add(time.Duration(*asked-has) * time.Second))
	obj.SetDeletionTimestamp(&at)
	obj.SetDeletionGracePeriodSeconds(asked)
	return true
}

// seconds is how long options want a deletion to take, nil if they do not say.
// Less than nothing is a second, as in kube-apiserver.
func seconds(o *metav1.DeleteOptions) *int64 {
	if s := o.GracePeriodSeconds; s != nil && *s < 0 {
		return new(int64(1))
	}
	return o.GracePeriodSeconds
}

// ended is what the client is told of an object that it deleted: as it was, and,
// of a kind whose deletions take time, marked.
func ended(r *request, p *progress) ([]byte, error) {
	data := p.present.data
	if r.Resource.Def.Grace == nil {
		return data, nil
	}
	start, end, err := object.Metadata(data)
	if err != nil {
		return nil, err
	}
	meta, _, err := object.Parse(data[start:end])
	if err != nil {
		return nil, err
	}
	marked, _ := p.object.Object["metadata"].(map[string]any)
	for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
		if v, ok := marked[name]; ok {
			meta[name] = v
		}
	}
	return object.WithMetadata(data, meta)
}
