package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// citedInText is an ID in a sub-test's name, citedInName in the name of a test
	// function.
	citedInText = regexp.MustCompile(`\b(` + rowAreas + `)-(L?[0-9]{1,2})\b`)
	citedInName = regexp.MustCompile(`_(` + rowAreas + `)(L?[0-9]{1,2})`)
	idsAtEnd    = regexp.MustCompile(`(_(` + rowAreas + `)L?[0-9]{1,2})+$`)
	testName    = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]`)
)

const rowAreas = `RES|VERB|MT|LIST|WATCH|RV|DEL|FV|DRY|UPD|SSA|CRD|CEL|DV|VER|MIG|HLT|CMP|PER|CLI|WP|ADM`

// citations are, by the ID of a row, those who show it: test functions as
// PACKAGE.NAME without the IDs at its end, and packages of recorded stories.
type citations map[string]map[string]bool

// citationsUnder reads the tests and the recorded stories of a module.
func citationsUnder(root string) (citations, error) {
	cited := citations{}
	return cited, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains([]string{"node_modules", ".git", "testdata"}, d.Name()):
			return filepath.SkipDir
		}
		return cited.addPackage(root, path)
	})
}

func (c citations) addPackage(root, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	storiesIn := filepath.Join(root, "test")
	stories, tests := strings.HasPrefix(folder, storiesIn), declarations{}
	for _, path := range files {
		told := declarations{}
		switch isTest := strings.HasSuffix(path, "_test.go"); {
		case isTest:
			err = tests.read(path)
		case stories:
			err = told.read(path)
		}
		if err != nil {
			return err
		}
		for name := range told {
			c.add(strings.TrimPrefix(filepath.ToSlash(folder[len(storiesIn):]), "/"), told[name].ids)
		}
	}
	for name := range tests {
		if testName.MatchString(name) {
			c.add(filepath.Base(folder)+"."+idsAtEnd.ReplaceAllString(name, ""), tests.reached(name))
		}
	}
	return nil
}

func (c citations) add(who string, ids []string) {
	for _, id := range ids {
		if c[id] == nil {
			c[id] = map[string]bool{}
		}
		c[id][who] = true
	}
}

// named are those who show a row, in the order in which the document has them:
// what is told to kube-apiserver too comes first.
func (c citations) named(id string) []string {
	return slices.SortedFunc(maps.Keys(c[id]), func(a, b string) int {
		if first := told(a) - told(b); first != 0 {
			return first
		}
		return strings.Compare(a, b)
	})
}

func told(who string) int {
	if strings.HasPrefix(who, "e2e.") || !strings.Contains(who, ".") {
		return 0
	}
	return 1
}

// declarations are those of a package, by name; methods of one name are one.
type declarations map[string]*declaration

// declaration is what a part of a package cites, and the names that it uses.
type declaration struct{ ids, uses []string }

// read adds a file's. An ID is cited by the name of a function, or by a text, such as the
// name of a sub-test; what comments say shows nothing.
func (d declarations) read(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		found, fields := &declaration{}, fieldsIn(decl)
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				found.ids = append(found.ids, idsIn(n.Value)...)
			case *ast.Ident:
				if !fields[n] {
					found.uses = append(found.uses, n.Name)
				}
			}
			return true
		})
		for _, name := range declared(decl) {
			if d[name] == nil {
				d[name] = &declaration{}
			}
			d[name].ids, d[name].uses = slices.Concat(d[name].ids, idsIn(name), found.ids), append(d[name].uses, found.uses...)
		}
	}
	return nil
}

// fieldsIn are the identifiers that name a field of something, or a constant or type of
// another package, and are no call: what is declared here by that name is not meant.
func fieldsIn(decl ast.Decl) map[*ast.Ident]bool {
	fields := map[*ast.Ident]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fields[n.Sel] = true
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				fields[key] = true
			}
		}
		return true
	})
	ast.Inspect(decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if called, ok := call.Fun.(*ast.SelectorExpr); ok {
				delete(fields, called.Sel)
			}
		}
		return true
	})
	return fields
}

// declared are the names of functions, variables and constants.
func declared(decl ast.Decl) []string {
	var names []string
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		names = append(names, decl.Name.Name)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range value.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// reached are the IDs that a declaration cites, or one that it uses.
func (d declarations) reached(name string) []string {
	var ids []string
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if at := d[name]; at != nil && !seen[name] {
			seen[name] = true
			ids = append(ids, at.ids...)
			for _, used := range at.uses {
				visit(used)
			}
		}
	}
	visit(name)
	return ids
}

// idsIn are the IDs in a text, as PREFIX-NUMBER.
func idsIn(text string) []string {
	var ids []string
	for _, m := range append(citedInText.FindAllStringSubmatch(text, -1), citedInName.FindAllStringSubmatch(text, -1)...) {
		ids = append(ids, m[1]+"-"+m[2])
	}
	return ids
}
