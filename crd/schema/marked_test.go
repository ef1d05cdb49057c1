package schema

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"
)

var write = flag.Bool("schema.write", false, "write what the comments of the types say")

// The file says what the comments in the source of the types say, for all types that
// Kubernetes has.
func TestMarksAreThoseOfTheSource(t *testing.T) {
	made := marks{Enums: map[string][]string{}, Defaults: map[string]string{}}
	texts := map[string]string{}
	for _, path := range packagesOf(t) {
		made.read(t, path, texts)
	}
	slices.Sort(made.Optional)
	slices.Sort(made.Required)
	slices.Sort(made.Atomic)
	text, err := yaml.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(markedText), "\n\n")
	text = append([]byte(head+"\n\n"), text...)
	if *write {
		if err := os.WriteFile("marked.yaml", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != string(markedText) {
		t.Error("marked.yaml is not what the source says: go test ./crd/schema -schema.write")
	}
	if len(made.Optional) < 50 || len(made.Enums) < 80 || len(made.Defaults) < 10 {
		t.Errorf("%d optional fields, %d enumerations, %d defaults", len(made.Optional), len(made.Enums), len(made.Defaults))
	}
}

// packagesOf are the packages of the types of Kubernetes' kinds.
func packagesOf(t *testing.T) []string {
	t.Helper()
	found, seen := map[string]bool{}, map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ = indirect(typ); typ.Kind() {
		case reflect.Slice, reflect.Map:
			walk(typ.Elem())
		case reflect.Struct:
			if seen[typ] || Leaf(typ) {
				return
			}
			seen[typ] = true
			found[typ.PkgPath()] = true
			for _, f := range Fields(typ) {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
	walk(reflect.TypeFor[apiregistrationv1.APIService]())
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version != "__internal" {
			walk(typ)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// read adds what the comments of a package say.
func (m *marks) read(t *testing.T, path string, texts map[string]string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=Dir,GoFiles", path).Output()
	var p struct {
		Dir     string
		GoFiles []string
	}
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	parts := strings.Split(path, "/")
	in := source{marks: m, name: strings.Join(parts[max(0, len(parts)-2):], "/"), enums: map[string][]string{}, texts: texts, defaults: map[string]string{}}
	var files []*ast.File
	for _, name := range p.GoFiles {
		if strings.HasPrefix(name, "zz_") || strings.HasSuffix(name, ".pb.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, visit := range []func(*ast.GenDecl){in.types, in.constants} { // a type may stand after its constants
		for _, f := range files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.GenDecl); ok {
					visit(d)
				}
			}
		}
	}
	for field, value := range in.defaults {
		if name, refers := strings.CutPrefix(value, "ref("); refers {
			text, known := texts[in.name+"."+strings.TrimSuffix(name, ")")]
			if !known {
				continue // of another type than a text
			}
			value = strconv.Quote(text)
		}
		m.Defaults[field] = value
	}
	for typ, values := range in.enums {
		slices.Sort(values)
		m.Enums[in.name+"."+typ] = slices.Compact(values)
	}
}

// source is a package that is read.
type source struct {
	*marks
	name  string
	enums map[string][]string
	texts map[string]string // the values of constants of all packages so far
	// defaults are JSON, or refer to a constant.
	defaults map[string]string
}

func (s *source) types(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		typ, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := typ.Doc
		if doc == nil {
			doc = d.Doc
		}
		switch of := typ.Type.(type) {
		case *ast.Ident:
			if _, marked := tagOf(doc, "enum"); marked && of.Name == "string" {
				s.enums[typ.Name.Name] = nil
			}
		case *ast.StructType:
			for _, f := range of.Fields.List {
				s.field(s.name+"."+typ.Name.Name, f)
			}
		}
	}
}

func (s *source) field(of string, f *ast.Field) {
	if f.Tag == nil {
		return
	}
	tag, _ := strconv.Unquote(f.Tag.Value)
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	omitted := strings.Contains(options, "omitempty")
	if name == "" || name == "-" {
		return
	}
	if _, marked := tagOf(f.Doc, "optional"); marked && !omitted {
		s.Optional = append(s.Optional, of+"."+name)
	}
	if _, marked := tagOf(f.Doc, "required"); marked && omitted {
		s.Required = append(s.Required, of+"."+name)
	}
	if how, _ := tagOf(f.Doc, "listType"); how == "atomic" {
		s.Atomic = append(s.Atomic, of+"."+name)
	}
	if value, marked := tagOf(f.Doc, "default"); marked {
		s.defaults[of+"."+name] = value
	}
}

func (s *source) constants(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		c, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST || len(c.Values) != 1 {
			continue
		}
		typ, value := c.Type, c.Values[0]
		if of, conversion := value.(*ast.CallExpr); conversion && len(of.Args) == 1 {
			typ, value = of.Fun, of.Args[0]
		}
		name, ok := typ.(*ast.Ident)
		if !ok {
			continue
		}
		if text, ok := s.text(value); ok {
			s.texts[s.name+"."+c.Names[0].Name] = text
			if _, enum := s.enums[name.Name]; enum {
				s.enums[name.Name] = append(s.enums[name.Name], text)
			}
		}
	}
}

// text is the value of a constant, written out or that of another one.
func (s *source) text(value ast.Expr) (string, bool) {
	switch v := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(v.Value)
		return text, err == nil && v.Kind == token.STRING
	case *ast.SelectorExpr:
		text, ok := s.texts["core/v1."+v.Sel.Name] // of which alone others make theirs
		return text, ok
	}
	return "", false
}

// tagOf is the value of a tag in a comment: +name, or +name=value.
func tagOf(doc *ast.CommentGroup, name string) (value string, ok bool) {
	if doc == nil {
		return "", false
	}
	for _, line := range doc.List {
		text, isTag := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(line.Text, "//")), "+")
		tag, value, _ := strings.Cut(text, "=")
		if isTag && tag == name {
			return value, true
		}
	}
	return "", false
}
