package form

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// text is the body of a reply, as a client without compression sees it.
func text(t *testing.T, r *reply.Response) string {
	t.Helper()
	var b bytes.Buffer
	switch {
	case r.Write != nil:
		if err := r.Write(&b); err != nil || b.Len() != r.Length {
			t.Errorf("%d of %d bytes: %v", b.Len(), r.Length, err)
		}
	case r.Reader != nil:
		if _, err := b.ReadFrom(r.Reader); err != nil {
			t.Error(err)
		}
	default:
		b.Write(r.Body)
	}
	if len(r.Headers) == 0 {
		return b.String()
	}
	z, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

const (
	whole     = `{"apiVersion":"v1","data":{"k":"text"},"kind":"ConfigMap","metadata":{"managedFields":[],"name":"a","namespace":"default","resourceVersion":"2","uid":"u"}}`
	partial   = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"default","resourceVersion":"2","uid":"u","managedFields":[]}}`
	emptyRow  = `"object":null}]}`
	partTable = ";as=Table;v=v1;g=meta.k8s.io"
)

// A kind may have another order of rows than that of names; objects keep theirs.
func TestRowsHaveAnOrder(t *testing.T) {
	x := serve(t)
	for _, name := range []string{"a", "b", "c"} {
		x.put(name, "text")
	}
	list, err := x.List(t.Context(), x.Target, &internalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	version := *x.Version
	version.RowOrder = func(a, b map[string]any) int {
		return strings.Compare(object.TextAt(b, "metadata", "name"), object.TextAt(a, "metadata", "name"))
	}
	t2 := x.Target
	t2.Version = &version
	for accept, want := range map[string]string{asTable: "c b a", encoding.TypeJSON: "a b c"} {
		many, err := x.formOf(accept).Collection(soon(t), t2, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range regexp.MustCompile(`"name":"(.)"`).FindAllStringSubmatch(text(t, many), -1) {
			got = append(got, one[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", accept, got, want)
		}
	}
	if items, err := inOrder([]encoding.Object{encoding.Text([]byte("{"))}, version.RowOrder); err == nil {
		t.Errorf("what is no object has an order: %v", items)
	}
}

// One object, a collection and what was written look in each form as kube-apiserver has it.
func TestReplies_MT(t *testing.T) {
	x := serve(t)
	x.put("a", "text")
	list, err := x.List(t.Context(), x.Target, &internalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		accept, query        string
		media                string
		single, many, writes string // parts of them
	}{
		"JSON":              {"", "", encoding.TypeJSON, whole, `{"apiVersion":"v1","items":[` + whole + `],"kind":"ConfigMapList","metadata":{"resourceVersion":"2"}}`, whole},
		"JSON for people":   {"application/json;pretty=1", "", encoding.TypeJSON, "{\n  \"apiVersion\": \"v1\",\n", "\n  \"items\": [\n    {\n", whole},
		"YAML":              {"application/yaml", "", encoding.TypeYAML, "apiVersion: v1\ndata:\n  k: text\nkind: ConfigMap\n", "items:\n- apiVersion: v1\n", whole},
		"protobuf":          {"application/vnd.kubernetes.protobuf", "", encoding.TypeProtobuf, "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap", "k8s\x00\n\x13\n\x02v1\x12\rConfigMapList", whole},
		"metadata":          {asPart, "", encoding.TypeJSON, partial, `{"apiVersion":"meta.k8s.io/v1","items":[` + partial + `],"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"2"}}`, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"managedFields":[],"name":"a",`},
		"a table":           {asTable, "", encoding.TypeJSON, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2"},"columnDefinitions":[{"name":"Name"`, `"rows":[{"cells":["a",1,`, `{"kind":"Table"`},
		"its metadata":      {asTable, "", encoding.TypeJSON, `"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`, `"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`, `"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`},
		"its objects":       {asTable, "includeObject=Object", encoding.TypeJSON, `"object":` + whole + `}]}`, `"object":` + whole + `}]}`, `"object":` + whole + `}]}`},
		"no objects":        {asTable, "includeObject=None", encoding.TypeJSON, emptyRow, emptyRow, emptyRow},
		"no columns":        {asTable, "noHeaders=true", encoding.TypeJSON, `"columnDefinitions":null`, `"columnDefinitions":null`, `"columnDefinitions":null`},
		"columns":           {asTable, "noHeaders=1", encoding.TypeJSON, `"columnDefinitions":[`, `"columnDefinitions":[`, `"columnDefinitions":[`},
		"a table in YAML":   {"application/yaml" + partTable, "", encoding.TypeYAML, "kind: Table\n", "kind: Table\n", `{"kind":"Table"`},
		"no managed fields": {"application/json;drop=metadata.managedFields", "", encoding.TypeJSON, "", `"metadata":{"name":"a","namespace":"default","resourceVersion":"2","uid":"u"}}],"kind"`, `"metadata":{"name":"a","namespace":"default","resourceVersion":"2","uid":"u"}}`},
		"a count":           {"application/json;count=only", "", encoding.TypeJSON, "", `"items":[],"kind":"ConfigMapList","metadata":{"remainingItemCount":1,`, whole},
	} {
		f := x.formOf(c.accept)
		v, _ := url.ParseQuery(c.query)
		objects, err := x.Resource.Objects(t.Context(), nil, list.Entries, f.Encoding(x.Target))
		if err != nil {
			t.Fatal(err)
		}
		one, err := f.Single(t.Context(), x.Target, objects[0], v)
		if err != nil || one.Code != 200 || one.ContentType != c.media || !strings.Contains(text(t, one), c.single) {
			t.Errorf("%s: one is %v, %s %s", name, err, one.ContentType, one.Body)
		}
		for _, f.gzip = range []bool{false, true} {
			many, err := f.Collection(soon(t), x.Target, list, v)
			if err != nil || many.Code != 200 || many.ContentType != c.media || many.Headers != nil {
				t.Errorf("%s: many are %v %+v", name, err, many)
			} else if got := text(t, many); !strings.Contains(got, c.many) {
				t.Errorf("%s: many are %q, want %q", name, got, c.many)
			}
		}
		written, err := f.Written(t.Context(), x.Target, []byte(whole), v)
		if err != nil || !strings.Contains(string(written), c.writes) {
			t.Errorf("%s: what is written is %s, %v", name, written, err)
		}
	}
}

// What has no form, or cannot be read, is refused, whatever was asked for.
func TestRepliesThatAreRefused(t *testing.T) {
	x := serve(t)
	x.put("a", "text")
	list, err := x.List(t.Context(), x.Target, &internalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	odd := url.Values{"includeObject": {"Odd"}}
	refused := func(name string, err error, code int32, part string) {
		t.Helper()
		if s, is := err.(apierrors.APIStatus); !is || s.Status().Code != code || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %d %s", name, err, code, part)
		}
	}
	parts, table := x.formOf(asParts), x.formOf(asTable)
	_, err = parts.Single(t.Context(), x.Target, encoding.Text(whole), nil)
	refused("one as a list", err, 406, "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)")
	_, err = parts.Written(t.Context(), x.Target, []byte(whole), nil)
	refused("a write as a list", err, 406, "you requested PartialObjectMetadataList")
	_, err = table.Single(t.Context(), x.Target, encoding.Text(whole), odd)
	refused("an odd table", err, 400, "includeObject")
	_, err = table.Written(t.Context(), x.Target, []byte(whole), odd)
	refused("an odd table of a write", err, 400, "includeObject")
	_, err = table.Collection(soon(t), x.Target, list, odd)
	refused("an odd table of many", err, 400, "includeObject")
	for _, include := range []string{"None", "Metadata", "Object"} {
		_, err = table.Single(t.Context(), x.Target, encoding.Text("x"), url.Values{"includeObject": {include}})
		refused("a table of nothing with "+include, err, 500, "")
	}
	for _, accept := range []string{"application/yaml", "application/json;pretty=1"} {
		f := x.formOf(accept)
		_, err = f.Single(t.Context(), x.Target, encoding.Text("{"), nil)
		refused("nothing as "+accept, err, 500, "")
	}
	_, err = x.formOf(asPart).Written(t.Context(), x.Target, []byte("{"), nil)
	refused("metadata of nothing", err, 500, "")
	bad := serve(t)
	bad.put("bad", "unreadable")
	w := bad.watch()
	defer w.Stop()
	broken := *list
	broken.Entries = w.Initial(1000)
	for _, accept := range []string{"", "application/yaml", asTable, asPart} {
		if _, err := bad.formOf(accept).Collection(soon(t), bad.Target, &broken, nil); err == nil {
			t.Errorf("%q: what is unreadable is listed", accept)
		}
	}
}

// Lists that are asked for again are joined of what is kept, and say the same, whatever they
// begin with, and compressed or not.
func TestListsThatAreAskedForAgain(t *testing.T) {
	x := serve(t)
	const many = 600
	for i := range many {
		x.put(fmt.Sprintf("c%03d", i), strings.Repeat("some text ", 40))
	}
	all, err := x.List(t.Context(), x.Target, &internalversion.ListOptions{})
	if err != nil || len(all.Entries) != many {
		t.Fatal(len(all.Entries), err)
	}
	for _, accept := range []string{"", "application/vnd.kubernetes.protobuf"} {
		f, first := x.formOf(accept), ""
		for i := range 6 {
			list := *all
			r, err := f.For(false, i == 5).Collection(soon(t), x.Target, &list, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, r); i == 0 {
				first = got
			} else if got != first {
				t.Errorf("%q, time %d: %d bytes, at first %d", accept, i, len(got), len(first))
			}
			part := *all
			part.Entries = all.Entries[i*37 : many-i*11]
			if r, err = f.Collection(soon(t), x.Target, &part, nil); err != nil {
				t.Fatal(err)
			}
			if got := text(t, r); accept == "" && (!json.Valid([]byte(got)) || strings.Count(got, `"kind":"ConfigMap",`) != len(part.Entries)) {
				t.Errorf("from %d: %d of %d objects", i*37, strings.Count(got, `"kind":"ConfigMap",`), len(part.Entries))
			}
		}
	}
	table, err := x.formOf(asTable).Collection(soon(t), x.Target, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, table); !json.Valid([]byte(got)) || strings.Count(got, `{"cells":["c`) != many || strings.Count(got, `"columnDefinitions":[`) != 1 || !strings.Contains(got, fmt.Sprintf(`{"cells":["c%03d",1,`, many-1)) {
		t.Errorf("a table of %d rows: %.300s", strings.Count(got, `{"cells":["c`), got)
	}
}

// full takes so many writes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// A list whose connection breaks ends there, whichever of its pieces it was.
func TestListsEndWithWhatCannotBeWritten(t *testing.T) {
	large := encoding.Text(strings.Repeat("x", pieceSize))
	s := sequence{media: encoding.JSON, items: objects{large, large, large}, parts: []part{{from: 0, to: 2}, {kept: []byte(",k")}, {kept: []byte(",l")}, {from: 2, to: 3}}}
	var out pieces
	if err := s.write(&out); err != nil {
		t.Fatal(err)
	}
	for n := range out.all {
		left := full(n)
		if err := s.write(&left); err != io.ErrShortWrite || left != -1 {
			t.Errorf("after %d of %d pieces: %v, %d more", n, len(out.all), err, -1-left)
		}
	}
}

// Clients take compressed replies as they say.
func TestGzip(t *testing.T) {
	for accepts, want := range map[string]bool{
		"": false, "gzip": true, "deflate, gzip": true, "gzip;q=0": false, "gzip;q=0.5": true, "gzip; q=x": true, "br;q=1, gzip ; q=0.0": false, "x-gzip": false, "identity": false,
	} {
		if got := Gzip(accepts); got != want {
			t.Errorf("%q: %v", accepts, got)
		}
	}
}

// What a client wants is asked of its form.
func TestForms(t *testing.T) {
	x := serve(t)
	for accept, want := range map[string][4]bool{ // streams, counts, whole, pretty
		"": {true, false, true, false}, "application/yaml": {false, false, true, false}, "application/json;count=only": {true, true, false, false},
		asPart: {true, false, false, false}, asParts: {true, false, false, false}, asTable: {true, false, true, false}, "application/json;pretty=1": {true, false, true, true},
	} {
		f := x.formOf(accept)
		if got := [4]bool{f.Streams(), f.Counts(), f.Whole(), f.pretty}; got != want {
			t.Errorf("%q: %v", accept, got)
		}
		for _, pretty := range []bool{false, true} {
			if g := f.For(pretty, !pretty); g.pretty != (f.pretty || pretty) || g.gzip == pretty {
				t.Errorf("%q, pretty %v: %+v", accept, pretty, g)
			}
		}
		if p := f.For(true, true).Plain(); p.pretty || p.gzip || p.media != encoding.JSON || p.as != f.as {
			t.Errorf("%q: plain is %+v", accept, p)
		}
	}
	one, many := OfferOf(x.Target, true, false), OfferOf(x.Target, true, true)
	const stream = "application/json;stream=watch"
	if _, err := many.Negotiate(stream); err != nil {
		t.Error(err)
	}
	for offer, want := range map[Offer]bool{one: false, many: true} {
		if _, err := offer.Negotiate("text/html"); !apierrors.IsNotAcceptable(err) || strings.Contains(err.Error(), "stream=watch") != want {
			t.Errorf("a form that there is not: %v", err)
		}
	}
	if err := OfferOf(x.Target, false, true).Unstreamed(); !apierrors.IsNotAcceptable(err) || err.Error() != "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch" {
		t.Error(err)
	}
	for accept, want := range map[string]bool{"application/json;as=Table;v=v1;g=other": false, "application/json;as=Odd;v=v1;g=meta.k8s.io": false, "application/cbor": true, "application/json;as=Table;v=v2;g=meta.k8s.io": false} {
		if _, err := one.Negotiate(accept); (err == nil) != want {
			t.Errorf("%s: %v", accept, err)
		}
	}
}
