package hooks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/gateway/bounds/files"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// The most that is read.
const (
	maxFiles    = 1000
	maxManifest = 4 << 20
)

// content is what files say at a time.
type content struct {
	modules map[string]plugins.Revision
	rules   map[string]*rules.Rules
	// doubts are what is wrong with rules that convert nevertheless.
	doubts map[string]error
	// from is the file that a name is from.
	from map[string]string
}

// has reports whether something has a name.
func (c *content) has(name string) bool { return c.from[name] != "" }

// list finds the files that paths mean: themselves, and those of folders that have a name
// of ours. What is hidden is left out: the folders that kubelets mount have the files
// twice.
func list(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			switch filepath.Ext(e.Name()) {
			case ".wasm", ".yaml", ".yml", ".json":
				if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
					files = append(files, filepath.Join(path, e.Name()))
				}
			}
		}
	}
	if len(files) > maxFiles {
		return nil, fmt.Errorf("there are %d files, more than %d", len(files), maxFiles)
	}
	return files, nil
}

// sight is what files look like from outside, to see that they changed.
func sight(paths []string) string {
	var out strings.Builder
	files, err := list(paths)
	if err != nil {
		return err.Error()
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			fmt.Fprintln(&out, f, err)
			continue
		}
		fmt.Fprintln(&out, f, info.Size(), info.ModTime().UnixNano())
	}
	return out.String()
}

// read reads files, all or none: what one says of a module may be in another.
func read(paths []string) (*content, error) {
	files, err := list(paths)
	if err != nil {
		return nil, err
	}
	c := &content{modules: map[string]plugins.Revision{}, rules: map[string]*rules.Rules{}, doubts: map[string]error{}, from: map[string]string{}}
	// What is said of a module comes after its bytes.
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	var errs []error
	for _, f := range files {
		if err := c.file(f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f, err))
		}
	}
	return c, errors.Join(errs...)
}

func rank(file string) int {
	if filepath.Ext(file) == ".wasm" {
		return 0
	}
	return 1
}

func (c *content) file(path string) error {
	if rank(path) == 1 {
		return c.manifest(path)
	}
	data, err := files.Read(path, plugins.MaxModuleBytes)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".wasm")
	if err := c.claim(name, path); err != nil {
		return err
	}
	c.modules[name] = plugins.Revision{Digest: signature.Digest(data), Bytes: data}
	return nil
}

// check tells which modules cannot be loaded, as far as that is seen without compiling.
func (c *content) check(ctx context.Context) error {
	all := make(map[string][]byte, len(c.modules))
	for name, rev := range c.modules {
		all[name] = rev.Bytes
	}
	refused, err := offline.Check(ctx, all)
	errs := []error{err}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		errs = append(errs, fmt.Errorf("%s: %w", c.from[name], refused[name]))
	}
	return errors.Join(errs...)
}

// claim takes a name for a file.
func (c *content) claim(name, path string) error {
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return fmt.Errorf("%q is no name for what is served: %s", name, wrong[0])
	}
	if by, taken := c.from[name]; taken {
		return fmt.Errorf("%q is the name of something in %s, too", name, by)
	}
	c.from[name] = path
	return nil
}

// manifest reads rules and what is said of modules; other kinds are passed over.
func (c *content) manifest(path string) error {
	text, err := files.Read(path, maxManifest)
	if err != nil {
		return err
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := sigsyaml.YAMLToJSONStrict(document)
		if err != nil {
			return err
		}
		obj := &unstructured.Unstructured{}
		if err := sigsyaml.Unmarshal(data, &obj.Object); err != nil {
			return err
		}
		switch kind, name := obj.GetKind(), obj.GetName(); kind {
		case offline.RulesKind:
			r, doubts, err := offline.ServedRules(data)
			if err == nil {
				err = c.claim(name, path)
			}
			if err != nil {
				return fmt.Errorf("%s %q: %w", kind, name, err)
			}
			c.rules[name] = r
			if doubts != nil {
				c.doubts[name] = doubts
			}
		case "WasmModule":
			if err := c.described(obj, path); err != nil {
				return fmt.Errorf("%s %q: %w", kind, name, err)
			}
		}
	}
}

// described takes configuration and limits from an object, and the bytes if they are in
// it; else those are in the file NAME.wasm.
func (c *content) described(obj *unstructured.Unstructured, path string) error {
	name := obj.GetName()
	held, has := c.modules[name]
	if has {
		obj.SetAnnotations(map[string]string{module.ContentAnnotation: held.Digest})
	}
	rev, refused := module.Wanted(obj, signature.Digest)
	switch {
	case refused != nil && refused.Expected:
		return fmt.Errorf("there is no file %s.wasm", name)
	case refused != nil:
		return fmt.Errorf("%s: %s", refused.Reason, refused.Message)
	case rev.Bytes == nil && rev.Digest != held.Digest:
		return fmt.Errorf("the content of %s is %s, not %s", c.from[name], held.Digest, rev.Digest)
	case rev.Bytes == nil:
		rev.Bytes = held.Bytes
	default:
		if err := c.claim(name, path); err != nil {
			return err
		}
	}
	if len(module.GrantsOf(obj)) > 0 {
		return errors.New("spec.grants: outside of a gateway modules can look nothing up")
	}
	c.modules[name] = *rev
	return nil
}
