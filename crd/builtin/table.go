package builtin

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/expr"
)

var (
	metaDocs   = metav1.ObjectMeta{}.SwaggerDoc()
	nameColumn = metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]}
	ageColumn  = metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: metaDocs["creationTimestamp"]}
)

// column is a column of text.
func column(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

// wide is a column that is printed only when asked for.
func wide(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

// table prints objects of Go type T.
type table[T any] struct {
	columns []metav1.TableColumnDefinition
	cells   func(*T) []any
}

// ConvertToTable implements rest.TableConvertor for *unstructured.Unstructured
// and *unstructured.UnstructuredList.
func (t *table[T]) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	var headers []metav1.TableColumnDefinition
	if o, _ := options.(*metav1.TableOptions); o == nil || !o.NoHeaders {
		headers = t.columns
	}
	return tableOf(obj, headers, t.row)
}

func (t *table[T]) row(obj runtime.Object, _ metav1.Object, _, _ string) ([]any, error) {
	v := new(T)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if err := toTyped(u.Object, v); err != nil {
			return nil, err
		}
	}
	return t.cells(v), nil
}

// since prints how long ago t was.
func since(t metav1.Time) string { return ago(t.Time) }

func ago(t time.Time) string { return expr.Age(t) }
