package form

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// tableOf prints an object (its JSON at the request's version) as a Table in JSON.
func tableOf(ctx context.Context, t resource.Target, item []byte, version string, v url.Values) ([]byte, error) {
	p, err := newPrinter(ctx, t, version, v)
	if err != nil {
		return nil, err
	}
	table, err := p.print([]encoding.Object{encoding.Text(item)}, p.noHeaders)
	if err != nil {
		return nil, err
	}
	return encodeTable(table, metav1.ListMeta{}, version)
}

// tableList is tableOf for a collection, in the client's form: rows are made while
// it is sent.
func tableList(ctx context.Context, f Form, t resource.Target, items []encoding.Object, m metav1.ListMeta, v url.Values) (*reply.Response, error) {
	p, err := newPrinter(context.WithoutCancel(ctx), t, f.version, v) // the rest is made when the request was answered
	if err != nil {
		return nil, err
	}
	if t.Version.RowOrder != nil {
		if items, err = inOrder(items, t.Version.RowOrder); err != nil {
			return nil, err
		}
	}
	r := &rows{objects: items, printer: p}
	table, err := p.print(items[:min(tableBatch, len(items))], p.noHeaders)
	if err != nil {
		return nil, err
	}
	r.made, table.Rows = table.Rows, []metav1.TableRow{}
	text, err := encodeTable(table, m, f.version)
	if err != nil {
		return nil, err
	}
	return gradually(ctx, f, &encoding.List{Table: text}, r)
}

// encodeTable completes a table that is a reply; m is that of a list.
func encodeTable(table *metav1.Table, m metav1.ListMeta, version string) ([]byte, error) {
	m.ResourceVersion = cmp.Or(m.ResourceVersion, table.ResourceVersion)
	table.Kind, table.APIVersion, table.ListMeta = "Table", "meta.k8s.io/"+version, m
	out, err := json.Marshal(table)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return append(out, '\n'), nil
}

// inOrder are objects in the order of a comparison.
func inOrder(items []encoding.Object, compare func(a, b map[string]any) int) ([]encoding.Object, error) {
	type read struct {
		encoding.Object
		tree map[string]any
	}
	all := make([]read, len(items))
	for i, o := range items {
		tree, _, err := object.Parse(o.Bytes())
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		all[i] = read{o, tree}
	}
	slices.SortStableFunc(all, func(a, b read) int { return compare(a.tree, b.tree) })
	out := make([]encoding.Object, len(items))
	for i := range all {
		out[i] = all[i].Object
	}
	return out, nil
}

// tableBatch is how many rows are made at once.
const tableBatch = 100

// rows are the [source] of a table.
type rows struct {
	objects
	printer *printer
	made    []metav1.TableRow // those that were made last
	from    int               // the first of them
}

// item implements [source].
func (r *rows) item(i int) (encoding.Object, error) {
	if end := r.from + len(r.made); i == end {
		table, err := r.printer.print(r.objects[i:min(i+tableBatch, len(r.objects))], true)
		if err != nil {
			return nil, err
		}
		r.made, r.from = table.Rows, i
	}
	data, err := json.Marshal(r.made[i-r.from])
	return encoding.Text(data), err
}

// printer prints objects as rows.
type printer struct {
	ctx       context.Context
	convertor dialect.Printer
	version   string // of meta.k8s.io, that bare metadata is shown at
	include   metav1.IncludeObjectPolicy
	noHeaders bool
}

func newPrinter(ctx context.Context, t resource.Target, version string, v url.Values) (*printer, error) {
	include, err := includeObject(v)
	if err != nil {
		return nil, err
	}
	return &printer{ctx: ctx, convertor: dialect.PrinterOf(t), version: version, include: include, noHeaders: v.Get("noHeaders") == "true"}, nil
}

// print is a table without its kind; of one object it has the revision.
func (p *printer) print(items []encoding.Object, noHeaders bool) (*metav1.Table, error) {
	list := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(items))}
	for i, o := range items {
		tree, _, err := object.Parse(o.Bytes())
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		list.Items[i].Object = tree
	}
	table, err := p.convertor.ConvertToTable(p.ctx, list, &metav1.TableOptions{NoHeaders: noHeaders})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if len(table.Rows) != len(items) {
		return nil, apierrors.NewInternalError(fmt.Errorf("the table of %d objects has %d rows", len(items), len(table.Rows)))
	}
	for i := range table.Rows {
		if table.Rows[i].Object, err = p.rowObject(items[i].Bytes()); err != nil {
			return nil, err
		}
	}
	table.ListMeta = metav1.ListMeta{}
	if len(items) == 1 {
		table.ResourceVersion = list.Items[0].GetResourceVersion()
	}
	return table, nil
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

func (p *printer) rowObject(data []byte) (runtime.RawExtension, error) {
	switch p.include {
	case metav1.IncludeNone:
		return runtime.RawExtension{}, nil
	case metav1.IncludeObject:
		return runtime.RawExtension{Raw: data}, nil
	}
	s, e, err := object.Metadata(data)
	if err != nil {
		return runtime.RawExtension{}, apierrors.NewInternalError(err)
	}
	return runtime.RawExtension{Raw: append(append([]byte(encoding.PartialHead(p.version)), data[s:e]...), '}')}, nil
}
