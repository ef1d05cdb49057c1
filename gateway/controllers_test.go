package gateway_test

import (
	"go/ast"
	"maps"
	"path"
	"strconv"
	"strings"
	"testing"
)

// Every controller runs in the gateway: one that nobody makes would be missed by
// nobody for as long as nothing is left lying around.
func TestEveryControllerIsRun(t *testing.T) {
	all := load(t)
	made := uses(all["gateway/server"])
	for name := range uses(all["gateway/kinds/all"]) {
		if kind := all[strings.TrimSuffix(name, path.Ext(name))]; kind != nil {
			maps.Copy(made, uses(kind))
			maps.Copy(made, calls(strings.TrimSuffix(name, path.Ext(name)), kind))
		}
	}
	found := 0
	for dir, p := range all {
		if isTestPackage(dir) || !below(dir, "gateway") {
			continue
		}
		reconciles := map[string]bool{}
		p.functions(func(fn *ast.FuncDecl) {
			if fn.Name.Name == "Reconcile" && fn.Recv != nil {
				reconciles[pointedTo(fn.Recv.List[0].Type)] = true
			}
		})
		p.functions(func(fn *ast.FuncDecl) {
			if fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil || !reconciles[pointedTo(fn.Type.Results.List[0].Type)] {
				return
			}
			found++
			if !made[dir+"."+fn.Name.Name] {
				t.Errorf("%s.%s makes a controller, and neither gateway/server nor a kind of gateway/kinds/all does", dir, fn.Name.Name)
			}
		})
	}
	if found < 15 {
		t.Errorf("only %d controllers found", found)
	}
}

// functions visits what is declared in the package.
func (s *source) functions(visit func(*ast.FuncDecl)) {
	for _, f := range s.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				visit(fn)
			}
		}
	}
}

// pointedTo is the name of the type that a type of this package points to, "" for
// others.
func pointedTo(e ast.Expr) string {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return ""
	}
	name, _ := star.X.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// calls are the functions of a package that it calls itself, each after its directory.
func calls(dir string, s *source) map[string]bool {
	called := map[string]bool{}
	for _, f := range s.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fn, ok := call.Fun.(*ast.Ident); ok {
					called[dir+"."+fn.Name] = true
				}
			}
			return true
		})
	}
	return called
}

// uses are the names of other packages of the module that one uses, each after
// its package's directory.
func uses(s *source) map[string]bool {
	used := map[string]bool{}
	for _, f := range s.files {
		dirs := map[string]string{} // by the name in this file
		for _, spec := range f.ast.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
				name := path.Base(imported)
				if spec.Name != nil {
					name = spec.Name.Name
				}
				dirs[name] = strings.TrimPrefix(imported, module+"/")
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := selector.X.(*ast.Ident); ok {
					used[dirs[of.Name]+"."+selector.Sel.Name] = true
				}
			}
			return true
		})
	}
	return used
}
