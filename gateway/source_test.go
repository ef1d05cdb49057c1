package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one package of the module, without its tests.
type source struct {
	dir     string // relative to the module's root; "" for main
	imports map[string]bool
	doc     string // the package comments of all files
	files   []*sourceFile
}

type sourceFile struct {
	name string
	fset *token.FileSet
	ast  *ast.File
}

func (f *sourceFile) line(p token.Pos) int { return f.fset.Position(p).Line }

// load parses all packages of the module, and none of modules nested in it.
func load(t *testing.T) map[string]*source {
	t.Helper()
	packages := map[string]*source{}
	root := ".."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, file, d.Name())
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		if dir = filepath.ToSlash(dir); dir == "." {
			dir = ""
		}
		if packages[dir] == nil {
			packages[dir] = &source{dir: dir, imports: map[string]bool{}}
		}
		return packages[dir].parse(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("only %d packages found: is this the root of the module?", len(packages))
	}
	return packages
}

// enter skips directories that hold no packages of this module.
func enter(root, dir, name string) error {
	if dir == root {
		return nil
	}
	if strings.HasPrefix(name, ".") || name == "testdata" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func (p *source) parse(file string) error {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		p.imports[strings.Trim(spec.Path.Value, `"`)] = true
	}
	if ast.IsGenerated(parsed) { // what a program wrote is not written to be read
		return nil
	}
	p.doc += parsed.Doc.Text() + "\n"
	p.files = append(p.files, &sourceFile{name: file, fset: fset, ast: parsed})
	return nil
}

// own are the packages of the module that p imports, sorted, by directory.
func (p *source) own() []string {
	var dirs []string
	for imp := range p.imports {
		if dir, ok := strings.CutPrefix(imp, module+"/"); ok {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// reachable returns the packages that dir imports directly or by way of
// others, each with the way there.
func reachable(all map[string]*source, dir string) map[string]string {
	seen := map[string]string{}
	var visit func(from, via string)
	visit = func(from, via string) {
		p := all[from]
		if p == nil {
			return
		}
		for _, imp := range slices.Sorted(maps.Keys(p.imports)) {
			rel, ok := strings.CutPrefix(imp, module+"/")
			if _, known := seen[rel]; !ok || known {
				continue
			}
			seen[rel] = via + " > " + rel
			visit(rel, seen[rel])
		}
	}
	visit(dir, dir)
	return seen
}

// below tells whether name is dir or a path below it.
func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

func belowAny(name, dirs string) bool {
	return slices.ContainsFunc(strings.Fields(dirs), func(d string) bool { return below(name, d) })
}

// isTestPackage tells packages that exist for tests, such as storagetest.
func isTestPackage(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return len(part) > len("test") && strings.HasSuffix(part, "test")
	}) || below(dir, "test")
}
