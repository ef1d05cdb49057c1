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
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/plan"
)

// kinds/GROUP/PLURAL.yaml are the kinds, types/GROUP-VERSION/*.yaml what is said
// of Go types wherever they occur.
//
//go:embed kinds types
var files embed.FS

// readFiles reads the files of all kinds.
func readFiles() ([]*file.File, error) {
	names, err := fs.Glob(files, "kinds/*/*.yaml")
	if err != nil {
		return nil, err
	}
	return onAllCores(names, func(name string) (*file.File, error) {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := file.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return f, nil
	})
}

// fromFiles makes the definitions of the kinds that have a version which is
// served; ttl is how long the objects of those that expire are kept. It makes only what discovery needs; schemas, rules and columns are made
// when a kind is first used.
func fromFiles(all []*file.File, ttl time.Duration) ([]*crd.Definition, error) {
	all = slices.DeleteFunc(all, func(f *file.File) bool { return !f.IsServed() })
	return onAllCores(all, func(f *file.File) (*crd.Definition, error) { return fromFile(f, ttl) })
}

// onAllCores makes something of every item, in their order.
func onAllCores[T, U any](items []T, f func(T) (U, error)) ([]U, error) {
	out := make([]U, len(items))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, item := range items {
		all.Go(func() (err error) {
			out[i], err = f(item)
			return err
		})
	}
	return out, all.Wait()
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
	names, err := fs.Glob(files, "types/*/*.yaml")
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
		pkg := strings.Replace(path.Base(path.Dir(name)), "-", "/", 1)
		for t, additions := range types {
			if all[pkg+"."+t] != nil {
				return nil, fmt.Errorf("%s: %s is in another file, too", name, t)
			}
			all[pkg+"."+t] = additions
		}
	}
	return all, nil
}
