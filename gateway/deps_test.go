package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wasmgate/wasmgate"

// onlyIn lists the libraries that have one home. A pattern is a path and all
// that is below it. Tests and programs in bench may use anything.
var onlyIn = []struct {
	library string
	homes   []string
	why     string
}{
	{"github.com/tetratelabs/wazero", []string{"plugins/wasm"}, "the Wasm engine can be replaced or fixed in one place"},
	{"github.com/gofiber/fiber", []string{"gateway/transport"}, "fasthttp reuses the memory of a request after its handler returned; nobody else needs to know"},
	{"github.com/valyala/fasthttp", []string{"gateway/transport"}, "as for fiber"},
	{"go.etcd.io/etcd", []string{"storage/etcd"}, "everything else works on the contract in storage"},
	{"github.com/spf13/cobra", []string{"gateway/cli"}, "the command line is an edge"},
	{"github.com/spf13/pflag", []string{"gateway/cli"}, "the command line is an edge"},
	{"github.com/prometheus", []string{"gateway/metrics", "storage/etcd"}, "metrics are counted through gateway/metrics"},
}

// never lists what packages must not import, not even by way of others.
var never = []struct {
	packages string
	imports  []string
	why      string
}{
	{"storage", []string{"crd", "conversion", "plugins", "gateway", "sdk"}, "storage knows keys, bytes and revisions only"},
	{"crd", []string{"storage", "conversion", "plugins", "gateway"}, "definitions are pure: no store, no HTTP, no Wasm"},
	{"conversion", []string{"storage", "plugins", "gateway"}, "a converter works the same whoever stores, serves or implements it"},
	{"plugins", []string{"storage", "crd", "gateway"}, "modules are called with bytes; what these mean is not the runtime's business"},
	{"sdk", []string{"storage", "crd", "conversion", "plugins", "gateway"}, "module authors get the SDK and nothing else"},
	{"gateway/resource", []string{"gateway/transport", "gateway/api", "gateway/server", "plugins/wasm", "storage/etcd"}, "the engine is below HTTP and above the contracts"},
	{"gateway/controller", []string{"gateway/transport", "gateway/api", "gateway/server", "plugins/wasm", "storage/etcd"}, "controllers see objects through their own interface"},
	{"gateway/api", []string{"gateway/transport", "gateway/server", "plugins/wasm", "storage/etcd"}, "requests are values, not connections"},
	{"gateway/transport", []string{"gateway/server", "gateway/cli", "storage/etcd", "plugins/wasm"}, "HTTP carries; it decides nothing"},
	{"gateway/authn", []string{"gateway/api", "gateway/transport", "crd", "storage", "plugins"}, "identities do not depend on what is served"},
	{"gateway/authz", []string{"gateway/api", "gateway/transport", "crd", "storage", "plugins"}, "decisions do not depend on what is served"},
	{"gateway/health", []string{"gateway", "storage", "crd", "plugins"}, "whoever owns a part adds its check"},
	{"gateway/metrics", []string{"gateway", "storage", "crd", "plugins"}, "metrics are passive"},
	{"gateway/cli", []string{"gateway/server", "gateway/transport", "gateway/resource", "storage", "plugins", "crd"}, "the commands are clients; serve is handed the function that serves"},
}

// importedOnlyBy lists packages that few may import.
var importedOnlyBy = []struct {
	pkg       string
	importers []string
	why       string
}{
	{"gateway/cli", []string{""}, "only main has a command line"},
	{"gateway/server", []string{"", "bench", "gateway/gatewaytest"}, "only main, benchmarks and test servers run a gateway"},
	{"storage/etcd", []string{"gateway/server", "bench", "gateway/gatewaytest"}, "only the wiring picks the store"},
	{"plugins/wasm", []string{"gateway/modulehost", "plugins", "bench"}, "only the host and the registry of modules know the engine"},
}

// The limits of readability.
const (
	maxFileLines     = 500
	maxFunctionLines = 100
)

// meaningless names say nothing about what a package owns.
var meaningless = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}

// source is one package of the module, without its tests.
type source struct {
	dir     string // relative to the module's root; "" for main
	imports map[string]bool
	doc     bool
	files   []*sourceFile
}

type sourceFile struct {
	name string
	fset *token.FileSet
	ast  *ast.File
}

func TestLibrariesHaveOneHome(t *testing.T) {
	for _, p := range load(t) {
		for _, rule := range onlyIn {
			for imp := range p.imports {
				if below(imp, rule.library) && !belowAny(p.dir, append(rule.homes, "bench")) && !isTestPackage(p.dir) {
					t.Errorf("%s imports %s, whose home is %s: %s", p.dir, imp, strings.Join(rule.homes, ", "), rule.why)
				}
			}
		}
	}
}

func TestImportsPointOneWay(t *testing.T) {
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
	for _, rule := range importedOnlyBy {
		for _, p := range all {
			if p.imports[module+"/"+rule.pkg] && !slices.ContainsFunc(rule.importers, func(d string) bool { return p.dir == d || (d != "" && below(p.dir, d)) }) && !isTestPackage(p.dir) {
				t.Errorf("%q imports %s: %s", p.dir, rule.pkg, rule.why)
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
		for imp := range p.imports {
			if rel, ok := strings.CutPrefix(imp, module+"/"); ok && isTestPackage(rel) && !isTestPackage(p.dir) && !below(p.dir, "bench") {
				t.Errorf("%s imports the test package %s", p.dir, rel)
			}
		}
	}
}

func TestPackagesSayWhatTheyOwn(t *testing.T) {
	for _, p := range load(t) {
		if !p.doc {
			t.Errorf("package %q has no package comment", p.dir)
		}
		if slices.Contains(meaningless, path.Base(p.dir)) {
			t.Errorf("package %s: its name says nothing", p.dir)
		}
	}
}

func TestFilesAndFunctionsAreReadable(t *testing.T) {
	for _, p := range load(t) {
		for _, f := range p.files {
			if n := f.fset.File(f.ast.Pos()).LineCount(); n > maxFileLines {
				t.Errorf("%s has %d lines, more than %d", f.name, n, maxFileLines)
			}
			for _, decl := range f.ast.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
					t.Errorf("%s: %s has %d lines, more than %d", f.name, fn.Name.Name, n, maxFunctionLines)
				}
			}
		}
	}
}

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
	p.doc = p.doc || parsed.Doc != nil
	p.files = append(p.files, &sourceFile{name: file, fset: fset, ast: parsed})
	return nil
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

func belowAny(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return below(name, d) })
}

// isTestPackage tells packages that exist for tests, such as storagetest.
func isTestPackage(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return len(part) > len("test") && strings.HasSuffix(part, "test")
	}) || below(dir, "gateway/e2e")
}
