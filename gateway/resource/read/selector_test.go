package read_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// FuzzSelectors: whatever is selected by, the answer is a part of all there is,
// by pages as at once, or a refusal that says so.
func FuzzSelectors(f *testing.F) {
	w := newWorld(f)
	for _, name := range []string{"one", "two", "three"} {
		w.create(w.at(v1, ""), tab(v1, name, "h-"+name, "1", `"labels":{"name":"`+name+`","n":"5"}`))
		w.create(w.builtin("configmaps", "default", ""), configMap(name, "1"))
	}
	w.wait(w.revision())
	for _, s := range []struct{ labels, fields string }{
		{"", ""}, {"name=one", ""}, {"name!=one,n", "metadata.name=two"}, {"!x", "metadata.namespace!=other"}, {"name in (one,two),n notin ()", ""},
		{"n>3,n<6", "metadata.name=one,metadata.name=two"}, {"==", "=="}, {"a b", "spec.host=x"}, {"name in (", `metadata.name=a\,b`}, {"n>x", `metadata.name=\`},
	} {
		f.Add(s.labels, s.fields)
	}
	f.Fuzz(func(t *testing.T, byLabels, byFields string) {
		ls, lerr := labels.Parse(byLabels)
		fs, ferr := fields.ParseSelector(byFields)
		if lerr != nil || ferr != nil {
			return // the edge refuses it
		}
		for _, target := range []resource.Target{w.at(v1, ""), w.builtin("configmaps", "default", "")} {
			select1 := func(limit int64, token string) (*resource.List, error) {
				return w.List(context.Background(), target, &internalversion.ListOptions{LabelSelector: ls, FieldSelector: fs, Limit: limit, Continue: token})
			}
			whole, err := select1(0, "")
			var status apierrors.APIStatus
			if err != nil {
				if !errors.As(err, &status) || status.Status().Code >= 500 {
					t.Errorf("%q %q: %v", byLabels, byFields, err)
				}
				continue
			}
			if len(whole.Entries) > 3 {
				t.Errorf("%q %q: %d objects", byLabels, byFields, len(whole.Entries))
			}
			found := 0
			for token := ""; ; found++ {
				page, err := select1(1, token)
				if err != nil || len(page.Entries) > 1 || found > 3 {
					t.Fatalf("%q %q: page %d: %v", byLabels, byFields, found, err)
				}
				if token = page.Continue; token == "" {
					found += len(page.Entries)
					break
				}
			}
			if found != len(whole.Entries) {
				t.Errorf("%q %q: %d by pages, %d at once", byLabels, byFields, found, len(whole.Entries))
			}
		}
	})
}
