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
	// Native tells that kube-apiserver prints the scale, which calls its columns
	// otherwise than the library of custom resources does.
	Native bool
}

func (t Table) columns() []metav1.TableColumnDefinition {
	about := metav1.ObjectMeta{}.SwaggerDoc()
	format, age, desired, available := "name", "date", "Number of desired replicas", "Number of actual replicas"
	if t.Native {
		format, age = "", "string"
		desired, available = autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"], autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]
	}
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: format, Description: about["name"]},
		{Name: "Desired", Type: "integer", Description: desired},
		{Name: "Available", Type: "integer", Description: available},
		{Name: "Age", Type: age, Description: about["creationTimestamp"]},
	}
}

// ConvertToTable implements [rest.TableConvertor].
func (t Table) ConvertToTable(_ context.Context, obj runtime.Object, o runtime.Object) (*metav1.Table, error) {
	out := &metav1.Table{}
	if opts, ok := o.(*metav1.TableOptions); !ok || !opts.NoHeaders {
		out.ColumnDefinitions = t.columns()
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
