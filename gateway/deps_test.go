package gateway_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/wasmgate/wasmgate"
	table  = "gateway/deps_table_test.go"
)

func TestPackagesImportWhatTheTableAllows(t *testing.T) {
	all := load(t)
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		if isTestPackage(dir) || dir == "gateway" { // gateway itself is a doc and these tests
			continue
		}
		imports := all[dir].own()
		row, listed := mayImport[dir]
		line := fmt.Sprintf("\n\t%q: %q,", dir, strings.Join(imports, " "))
		if !listed {
			t.Errorf("%q is not in mayImport; add to %s:%s", dir, table, line)
			continue
		}
		allowed := strings.Fields(row)
		for _, imp := range imports {
			if !slices.Contains(allowed, imp) {
				t.Errorf("%q imports %q, which %s does not allow; if that arrow is right, make its line:%s", dir, imp, table, line)
			}
		}
		for _, imp := range allowed {
			if !slices.Contains(imports, imp) {
				t.Errorf("%q no longer imports %q; in %s make its line:%s", dir, imp, table, line)
			}
		}
	}
	for dir := range mayImport {
		if all[dir] == nil {
			t.Errorf("there is no package %q; remove its line from %s", dir, table)
		}
	}
}

func TestPrinciplesOfImports(t *testing.T) {
	all := load(t)
	for _, rule := range never {
		for _, p := range all {
			if !below(p.dir, rule.packages) || isTestPackage(p.dir) {
				continue
			}
			for dep, via := range reachable(all, p.dir) {
				if belowAny(dep, rule.imports) && !below(dep, rule.packages) {
					t.Errorf("%s reaches %s (%s): %s", p.dir, dep, via, rule.why)
				}
			}
		}
	}
}

func TestLibrariesHaveHomes(t *testing.T) {
	for _, p := range load(t) {
		if below(p.dir, "bench") || isTestPackage(p.dir) {
			continue
		}
		for imp := range p.imports {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") || below(imp, module) {
				continue
			}
			library, in, why := "", "", ""
			for _, h := range homes {
				if below(imp, h.library) && len(h.library) > len(library) {
					library, in, why = h.library, h.in, h.why
				}
			}
			switch {
			case library == "":
				t.Errorf("%q imports %s, which has no home; add to homes in %s:\n\t{%q, %q, \"why\"},", p.dir, imp, table, imp, p.dir)
			case !belowAny(p.dir, in):
				t.Errorf("%q imports %s, whose home is %s: %s", p.dir, imp, in, why)
			}
		}
	}
}

func TestTheSDKIsFreeOfDependencies(t *testing.T) {
	for _, p := range load(t) {
		if !below(p.dir, "sdk") {
			continue
		}
		for imp := range p.imports {
			if strings.Contains(imp, ".") && !below(imp, module+"/sdk") {
				t.Errorf("%s imports %s: only the standard library and the SDK itself are allowed", p.dir, imp)
			}
		}
	}
}

func TestTestPackagesAreImportedByTestsOnly(t *testing.T) {
	for _, p := range load(t) {
		for _, imp := range p.own() {
			if isTestPackage(imp) && !isTestPackage(p.dir) {
				t.Errorf("%s imports the test package %s", p.dir, imp)
			}
		}
	}
}

// What a package comment has to say.
var owns, mustNot = regexp.MustCompile(`\bowns?\b`), regexp.MustCompile(`\bmust\s+not\b`)

func TestPackagesSayWhatTheyOwn(t *testing.T) {
	for _, p := range load(t) {
		if !owns.MatchString(p.doc) || !mustNot.MatchString(p.doc) {
			t.Errorf("the comment of package %q has to say what it owns and what it must not know, in these words:\n%s", p.dir, p.doc)
		}
		if slices.Contains(meaningless, path.Base(p.dir)) {
			t.Errorf("package %s: its name says nothing", p.dir)
		}
	}
}

func TestFilesAndFunctionsAreReadable(t *testing.T) {
	for _, p := range load(t) {
		for _, f := range p.files {
			readable(t, f)
		}
	}
}

func TestFilesAndFunctionsOfTestsAreReadable(t *testing.T) {
	root, tests := "..", &source{imports: map[string]bool{}}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, file, d.Name())
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		return tests.parse(file)
	})
	if err != nil || len(tests.files) < 100 {
		t.Errorf("%d files of tests: %v", len(tests.files), err)
	}
	for _, f := range tests.files {
		readable(t, f)
	}
}

// readable holds a file and its functions to their limits.
func readable(t *testing.T, f *sourceFile) {
	t.Helper()
	if n := f.fset.File(f.ast.Pos()).LineCount(); n > maxFileLines {
		t.Errorf("%s has %d lines, more than %d", f.name, n, maxFileLines)
	}
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
			t.Errorf("%s: %s has %d lines, more than %d", f.name, fn.Name.Name, n, maxFunctionLines)
		}
	}
}

func TestInterfacesAreSmall(t *testing.T) {
	for _, p := range load(t) {
		for _, f := range p.files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				i, ok := n.(*ast.InterfaceType)
				if !ok {
					return true
				}
				methods := 0
				for _, m := range i.Methods.List {
					methods += len(m.Names) // none for an embedded interface or a constraint
				}
				if methods > maxInterfaceMethods {
					t.Errorf("%s:%d: an interface of %d methods, more than %d", f.name, f.line(i.Pos()), methods, maxInterfaceMethods)
				}
				return true
			})
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, p := range load(t) {
		for _, f := range p.files {
			for _, decl := range f.ast.Decls {
				for _, name := range undocumented(decl) {
					t.Errorf("%s: %s has no comment", f.name, name)
				}
			}
		}
	}
}

// undocumented are the exported names that a declaration declares without a
// comment. One comment does for a group of constants or variables.
func undocumented(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					names = append(names, s.Name.Name)
				}
				names = append(names, undocumentedMethods(s)...)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && d.Doc == nil && s.Comment == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// undocumentedMethods are the methods of an exported interface without a
// comment.
func undocumentedMethods(s *ast.TypeSpec) (names []string) {
	i, ok := s.Type.(*ast.InterfaceType)
	if !ok || !s.Name.IsExported() {
		return nil
	}
	methods := 0
	for _, m := range i.Methods.List {
		methods += len(m.Names)
		for _, n := range m.Names {
			if m.Doc == nil && m.Comment == nil {
				names = append(names, s.Name.Name+"."+n.Name)
			}
		}
	}
	if methods == 1 {
		return nil // the comment of the type does
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	return ast.IsExported(receiver(d))
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
