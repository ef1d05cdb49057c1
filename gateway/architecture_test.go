package gateway_test

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecture = "../docs/architecture.md"

// mentioned are the names in backquotes of the form package.Name or
// package.Type.Method.
var mentioned = regexp.MustCompile("`([a-z][a-z0-9]*)\\.([A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)?)`")

func TestArchitectureNamesWhatExists(t *testing.T) {
	text := readArchitecture(t)
	declared := map[string]bool{}
	packages := map[string]bool{}
	for dir, p := range load(t) {
		name := path.Base(dir)
		packages[name] = true
		for _, f := range p.files {
			for _, d := range names(f.ast) {
				declared[name+"."+d] = true
			}
		}
	}
	found := mentioned.FindAllStringSubmatch(text, -1)
	if len(found) < 30 {
		t.Errorf("only %d names found in %s", len(found), architecture)
	}
	for _, m := range found {
		if name := m[1] + "." + m[2]; packages[m[1]] && !declared[name] {
			t.Errorf("%s names %s, which does not exist", architecture, name)
		} else if !packages[m[1]] {
			t.Errorf("%s names %s: there is no package %s", architecture, name, m[1])
		}
	}
}

func TestArchitectureShowsAllPackages(t *testing.T) {
	text := readArchitecture(t)
	if n := strings.Count(text, "\n"); n > 185 {
		t.Errorf("%s has %d lines; three pages are 185", architecture, n)
	}
	_, picture, _ := strings.Cut(text, "```\n")
	picture, _, _ = strings.Cut(picture, "```")
	shown := map[string]bool{}
	all := load(t)
	for _, word := range strings.FieldsFunc(picture, func(r rune) bool { return strings.ContainsRune(" \n,;:", r) }) {
		if strings.Contains(word, "/") && all[word] == nil {
			t.Errorf("the picture in %s shows %s, which is no package", architecture, word)
		}
		shown[word] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(mayImport)) {
		if !shown[dir] && dir != "" && !below(dir, "bench") && !below(dir, "examples") {
			t.Errorf("the picture in %s does not show %s; put it where it belongs", architecture, dir)
		}
	}
}

func readArchitecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names are what a file declares: functions, types, and methods
// after their type.
func names(f *ast.File) (out []string) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name.Name)
			} else {
				out = append(out, receiver(d)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					out = append(out, s.Name.Name)
				}
			}
		}
	}
	return out
}
