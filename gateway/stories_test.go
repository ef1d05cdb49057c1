package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every controller has a case for a stale cache, a recreated object and a lost leader: it
// is led in a controllertest.Story of its own package. A controller beside which another
// one of the package has a story is missed by nobody.
func TestEveryControllerHasAStory(t *testing.T) {
	found := 0
	for dir, p := range load(t) {
		if isTestPackage(dir) || !below(dir, "gateway") {
			continue
		}
		controllers := controllersOf(p)
		if len(controllers) == 0 {
			continue
		}
		led := ledInStories(t, dir)
		for controller, names := range controllers {
			found++
			if !slices.ContainsFunc(names, func(name string) bool { return led[name] }) {
				t.Errorf("%s.%s has a Reconcile, and is in no Lead of a controllertest.Story of its package: write one, which tells what becomes of the world when the cache is stale, an object is made again and a leader is lost", dir, controller)
			}
		}
	}
	if found < 35 {
		t.Errorf("only %d controllers found", found)
	}
}

// controllersOf are the types of a package with a method Reconcile of a controller, with the
// names by which a test may make one: the type's, and those of functions that return one.
func controllersOf(p *source) map[string][]string {
	out := map[string][]string{}
	p.functions(func(fn *ast.FuncDecl) {
		if fn.Name.Name == "Reconcile" && fn.Recv != nil && fn.Type.Params.NumFields() == 3 {
			name := nameOf(fn.Recv.List[0].Type)
			out[name] = append(out[name], name)
		}
	})
	p.functions(func(fn *ast.FuncDecl) {
		if fn.Recv != nil || fn.Type.Results == nil {
			return
		}
		for _, r := range fn.Type.Results.List {
			if name := nameOf(r.Type); out[name] != nil {
				out[name] = append(out[name], fn.Name.Name)
			}
		}
	})
	return out
}

// nameOf is the name of a type of the package, or of what a pointer to one points to.
func nameOf(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return pointedTo(e)
}

// ledInStories are the names of a package that the tests beside it use in the Lead of a
// story, there or in a function of the tests that is called there.
func ledInStories(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]map[string]bool{} // of the tests: the names that each uses
	led := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		own := calledAs(parsed, module+"/"+dir)
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil {
				functions[fn.Name.Name] = map[string]bool{}
				ownNames(fn.Body, own, functions[fn.Name.Name])
			}
		}
		for _, lead := range leads(parsed, calledAs(parsed, module+"/gateway/controller/controllertest")) {
			ownNames(lead, own, led)
		}
	}
	for grown := true; grown; {
		grown = false
		for name := range led {
			for used := range functions[name] {
				grown = grown || !led[used]
				led[used] = true
			}
		}
	}
	return led
}

// calledAs is the name that an imported package has in a file, "" where it has none.
func calledAs(f *ast.File, imported string) string {
	for _, spec := range f.Imports {
		if strings.Trim(spec.Path.Value, `"`) != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(imported)
	}
	return ""
}

// leads are what the stories of a file say for Lead.
func leads(f *ast.File, kit string) (all []ast.Node) {
	ast.Inspect(f, func(n ast.Node) bool {
		story, ok := n.(*ast.CompositeLit)
		if !ok || kit == "" {
			return true
		}
		of, ok := story.Type.(*ast.SelectorExpr)
		if !ok || of.Sel.Name != "Story" || !isNamed(of.X, kit) {
			return true
		}
		for _, e := range story.Elts {
			if field, ok := e.(*ast.KeyValueExpr); ok && isNamed(field.Key, "Lead") {
				all = append(all, field.Value)
			}
		}
		return true
	})
	return all
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// ownNames adds the names in a piece of code that are of the package itself, which is called
// own in its file, or of the tests: those of other packages are none.
func ownNames(code ast.Node, own string, names map[string]bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if own != "" && isNamed(n.X, own) {
				names[n.Sel.Name] = true
			}
			ownNames(n.X, own, names)
			return false
		case *ast.KeyValueExpr: // a field's name is no controller's
			if _, field := n.Key.(*ast.Ident); field {
				ownNames(n.Value, own, names)
				return false
			}
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
}
