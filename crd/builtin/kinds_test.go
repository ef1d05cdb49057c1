package builtin

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// A file of a kind that has no Go type is refused.
func TestNoGoType(t *testing.T) {
	f := &file.File{Group: "nobody", Versions: []file.Version{{Name: "v1", Storage: true}}}
	f.Names.Kind = "None"
	if d, err := fromFile(f, 0); d != nil || err == nil || err.Error() != "there is no Go type of nobody/v1, Kind=None" {
		t.Error(d, err)
	}
}

// Whatever a file says is of a field that there is, and can be compiled.
func TestFilesCanBeCarriedOut(t *testing.T) {
	names, err := fs.Glob(files, "kinds/*/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := file.Read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasSuffix(name, "/"+f.Names.Plural+".yaml") {
			t.Errorf("%s has %s", name, f.Names.Plural)
		}
		if _, err := fromFile(f, 0); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.Versions[0].Schema != nil {
			continue // its columns and rules were compiled with it
		}
		l, err := library()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.Versions {
			gv := f.GVK(v.Name).GroupVersion()
			if extend.Of(schema.GroupResource{Group: f.Group, Resource: f.Names.Plural}).Layouts[gv.String()] != nil {
				continue // what is said of it is said of another version
			}
			fresh, err := freshOf(gv.WithKind(f.Names.Kind))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			p, err := l.Plan(reflect.TypeOf(fresh()), v.Fields)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, err := range p.Check() {
				t.Errorf("%s: %v", name, err)
			}
			for _, c := range v.AdditionalPrinterColumns {
				if c.Expression != "" {
					if err := dyn.New(c.Expression).Check(); err != nil {
						t.Errorf("%s: column %s: %v", name, c.Name, err)
					}
				}
				if c.Function != "" && extend.Cell(c.Function) == nil {
					t.Errorf("%s: column %s: no function %s", name, c.Name, c.Function)
				}
			}
			for _, s := range v.SelectableFields {
				if s.Function != "" && extend.Cell(s.Function) == nil {
					t.Errorf("%s: %s: no function %s", name, s.Name, s.Function)
				}
				if s.Expression != "" && dyn.New(s.Expression).Check() != nil {
					t.Errorf("%s: %s: %v", name, s.Name, dyn.New(s.Expression).Check())
				}
			}
		}
	}
}

// Nothing is said of a type that no kind has.
func TestTypesAreThoseOfKinds(t *testing.T) {
	said, err := readTypes()
	if err != nil || len(said) == 0 {
		t.Fatal(said, err)
	}
	seen := map[reflect.Type]bool{}
	var meet func(at reflect.Type)
	meet = func(at reflect.Type) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice || at.Kind() == reflect.Map {
			at = at.Elem()
		}
		if seen[at] || crdschema.Leaf(at) {
			return
		}
		seen[at] = true
		delete(said, crdschema.Name(at))
		if at.Kind() == reflect.Struct {
			for _, f := range crdschema.Fields(at) {
				meet(f.Type)
			}
		}
	}
	for _, d := range definitions(t) {
		if s, ok := d.Versions[0].Strategy.(*strategy); ok {
			meet(reflect.TypeOf(s.kind.fresh()))
		}
	}
	for name := range said {
		t.Errorf("no kind has %s", name)
	}
}
