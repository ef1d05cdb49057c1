package gateway_test

import (
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// limitsFile lists what is above a limit today, with its figure, which may only
// shrink.
const limitsFile = "testdata/limits.txt"

var writeLimits = flag.Bool("limits.write", false, "lower the figures in "+limitsFile+" to what they are")

// limit is how much there may be of something.
type limit struct {
	what string
	most int
	// count finds how much there is, by name.
	count func(map[string]*source) map[string]int
}

var limits = []limit{
	{"imports", 30, countImports},
	{"folders", 20, countFolders},
	{"methods", 20, countMethods},
	{"file", 400, countFileLines},
	{"function", 60, countFunctionLines},
}

// mostWiring is how many packages those may import that do nothing but join them.
const mostWiring = 50

var wiring = []string{"gateway/server"}

// mostKinds is how many folders the one may have in which each is a kind.
const mostKinds = 60

// TestLimits holds the code to the limits, but for what is listed. After something
// got better:
//
//	go test ./gateway -run TestLimits -limits.write
func TestLimits(t *testing.T) {
	all := load(t)
	maps.DeleteFunc(all, func(dir string, _ *source) bool { return isTestPackage(dir) })
	listed, fresh := readLimits(t)
	var now []string
	for _, l := range limits {
		for name, n := range l.count(all) {
			key := l.what + " " + name
			was, exempt := listed[key]
			delete(listed, key)
			most := l.most
			if l.what == "imports" && slices.Contains(wiring, name) {
				most = mostWiring
			}
			if l.what == "folders" && name == "gateway/kinds" {
				most = mostKinds
			}
			switch {
			case n > most && (exempt && n <= was || fresh):
				now = append(now, fmt.Sprintf("%s %d", key, n))
			case n > max(most, was):
				t.Errorf("%s: %d, more than %d", key, n, max(most, was))
			}
			if exempt && n < was && !*writeLimits {
				t.Errorf("%s is %d and no longer %d: lower it with -limits.write", key, n, was)
			}
		}
	}
	for key := range listed {
		if !*writeLimits {
			t.Errorf("there is no %s: remove it with -limits.write", key)
		}
	}
	if *writeLimits {
		slices.Sort(now)
		if err := os.WriteFile(limitsFile, []byte(strings.Join(append(now, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readLimits reads the list; fresh reports that it is to be made.
func readLimits(t *testing.T) (listed map[string]int, fresh bool) {
	t.Helper()
	listed = map[string]int{}
	text, err := os.ReadFile(limitsFile)
	if err != nil && *writeLimits {
		return listed, true
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var what, name string
		var n int
		if line == "" {
			continue
		}
		if _, err := fmt.Sscanf(line, "%s %s %d", &what, &name, &n); err != nil {
			t.Fatalf("%s: %q: %v", limitsFile, line, err)
		}
		listed[what+" "+name] = n
	}
	return listed, false
}

func countImports(all map[string]*source) map[string]int {
	out := map[string]int{}
	for dir, p := range all {
		out[dir] = len(p.own())
	}
	delete(out, "")
	return out
}

// countFolders counts the folders directly in a folder that have packages.
func countFolders(all map[string]*source) map[string]int {
	children := map[string]map[string]bool{}
	for dir := range all {
		for dir != "" && dir != "." {
			parent := path.Dir(dir)
			if children[parent] == nil {
				children[parent] = map[string]bool{}
			}
			children[parent][dir] = true
			dir = parent
		}
	}
	out := map[string]int{}
	for dir, c := range children {
		out[dir] = len(c)
	}
	return out
}

// countMethods counts the methods of a type that are not in the file of the type.
func countMethods(all map[string]*source) map[string]int {
	out := map[string]int{}
	for dir, p := range all {
		home := map[string]string{}
		for _, f := range p.files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok {
					home[s.Name.Name] = f.name
				}
				_, inside := n.(*ast.FuncDecl)
				return !inside
			})
		}
		for _, f := range p.files {
			for _, decl := range f.ast.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil && home[receiver(fn)] != f.name {
					out[dir+"."+receiver(fn)]++
				}
			}
		}
	}
	return out
}

func countFileLines(all map[string]*source) map[string]int {
	out := map[string]int{}
	for _, p := range all {
		for _, f := range p.files {
			out[fromRoot(f.name)] = f.fset.File(f.ast.Pos()).LineCount()
		}
	}
	return out
}

func countFunctionLines(all map[string]*source) map[string]int {
	out := map[string]int{}
	for _, p := range all {
		for _, f := range p.files {
			for _, decl := range f.ast.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok {
					name := fn.Name.Name
					if fn.Recv != nil {
						name = receiver(fn) + "." + name
					}
					key := fromRoot(f.name) + ":" + name
					out[key] = max(out[key], f.line(fn.End())-f.line(fn.Pos())+1)
				}
			}
		}
	}
	return out
}

func fromRoot(file string) string {
	return strings.TrimPrefix(filepath.ToSlash(file), "../")
}
