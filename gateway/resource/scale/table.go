package scale

import (
	"context"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Table prints scales, of whatever kind. It implements [rest.TableConvertor].
type Table struct {
	// Native tells that kube-apiserver prints the scale, which does not call names
	// such.
	Native bool
}

// ConvertToTable implements [rest.TableConvertor].
func (t Table) ConvertToTable(_ context.Context, obj runtime.Object, o runtime.Object) (*metav1.Table, error) {
	out := &metav1.Table{}
	if opts, ok := o.(*metav1.TableOptions); !ok || !opts.NoHeaders {
		format := "name"
		if t.Native {
			format = ""
		}
		about := metav1.ObjectMeta{}.SwaggerDoc()
		out.ColumnDefinitions = []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: format, Description: about["name"]},
			{Name: "Desired", Type: "integer", Description: autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]},
			{Name: "Available", Type: "integer", Description: autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]},
			{Name: "Age", Type: "string", Description: about["creationTimestamp"]},
		}
	}
	list, _ := obj.(*unstructured.UnstructuredList) // which is what tables are made of
	for i := range list.Items {
		s := &list.Items[i]
		desired, _, _ := unstructured.NestedInt64(s.Object, "spec", "replicas")
		available, _, _ := unstructured.NestedInt64(s.Object, "status", "replicas")
		age := "<unknown>"
		if made := s.GetCreationTimestamp(); !made.IsZero() {
			age = duration.HumanDuration(time.Since(made.Time))
		}
		out.Rows = append(out.Rows, metav1.TableRow{Cells: []any{s.GetName(), desired, available, age}})
	}
	return out, nil
}
