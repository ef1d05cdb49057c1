package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// tableMeta is the list metadata of a table.
type tableMeta struct {
	revision  int64
	token     string
	remaining *int64
	// version is the version of meta.k8s.io that was asked for.
	version string
}

// tableOf prints objects (their JSON at the request's version) as a Table.
func tableOf(ctx context.Context, t resource.Target, items [][]byte, m tableMeta, v url.Values) ([]byte, error) {
	include, err := includeObject(v)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(items))}
	for i, data := range items {
		tree, _, err := object.Parse(data)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		list.Items[i].Object = tree
	}
	convertor := t.Version.Table
	if scaling(t) && t.Version.Native() {
		convertor = scaleTable{}
	}
	table, err := convertor.ConvertToTable(ctx, list, &metav1.TableOptions{NoHeaders: v.Get("noHeaders") == "true"})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if len(table.Rows) != len(items) {
		return nil, apierrors.NewInternalError(fmt.Errorf("the table of %d objects has %d rows", len(items), len(table.Rows)))
	}
	for i := range table.Rows {
		if table.Rows[i].Object, err = rowObject(include, items[i]); err != nil {
			return nil, err
		}
	}
	table.Kind, table.APIVersion = "Table", "meta.k8s.io/"+m.version
	table.ListMeta = metav1.ListMeta{Continue: m.token, RemainingItemCount: m.remaining}
	if m.revision > 0 {
		table.ResourceVersion = strconv.FormatInt(m.revision, 10)
	} else if len(list.Items) == 1 {
		table.ResourceVersion = list.Items[0].GetResourceVersion()
	}
	out, err := json.Marshal(table)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return append(out, '\n'), nil
}

func includeObject(v url.Values) (metav1.IncludeObjectPolicy, error) {
	switch p := metav1.IncludeObjectPolicy(v.Get("includeObject")); p {
	case "":
		return metav1.IncludeMetadata, nil
	case metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		return p, nil
	default:
		return "", apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", p))
	}
}

func rowObject(p metav1.IncludeObjectPolicy, data []byte) (runtime.RawExtension, error) {
	switch p {
	case metav1.IncludeNone:
		return runtime.RawExtension{}, nil
	case metav1.IncludeObject:
		return runtime.RawExtension{Raw: data}, nil
	}
	s, e, err := object.Metadata(data)
	if err != nil {
		return runtime.RawExtension{}, apierrors.NewInternalError(err)
	}
	out := append([]byte(nil), partialHead...)
	return runtime.RawExtension{Raw: append(append(out, data[s:e]...), '}')}, nil
}
