package builtin

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/plan"
)

// kinds/GROUP/PLURAL.yaml are the kinds, types/GROUP-VERSION.yaml what is said
// of Go types wherever they occur.
//
//go:embed kinds types
var files embed.FS

// fromFiles makes the definitions of all kinds that are files. It reads only
// what discovery needs; schemas, rules and columns are made when a kind is
// first used. With essentialOnly it leaves out those that custom resources do
// not need.
func fromFiles(essentialOnly bool) ([]*crd.Definition, error) {
	names, err := fs.Glob(files, "kinds/*/*.yaml")
	if err != nil {
		return nil, err
	}
	out := make([]*crd.Definition, len(names))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		all.Go(func() error {
			data, err := files.ReadFile(name)
			if err == nil {
				out[i], err = fromFile(data, essentialOnly)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	err = all.Wait()
	return slices.DeleteFunc(out, func(d *crd.Definition) bool { return d == nil }), err
}

// library is what is said of Go types, read when a kind is first used.
var library = sync.OnceValues(func() (*plan.Library, error) {
	all, err := readTypes()
	if err != nil {
		return nil, err
	}
	return plan.NewLibrary(all), nil
})

// readTypes reads what is said of Go types, by their names.
func readTypes() (map[string]plan.Additions, error) {
	names, err := fs.Glob(files, "types/*.yaml")
	if err != nil {
		return nil, err
	}
	all := map[string]plan.Additions{}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		types := map[string]plan.Additions{}
		if err := yaml.UnmarshalStrict(data, &types); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		pkg := strings.Replace(strings.TrimSuffix(path.Base(name), ".yaml"), "-", "/", 1)
		for t, additions := range types {
			all[pkg+"."+t] = additions
		}
	}
	return all, nil
}
