package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed sets.yaml
var known []byte

// set is what one project publishes.
type set struct {
	Name, Module string
	Paths        []string
}

func main() {
	peer := flag.String("peer", "https://127.0.0.1:6443", "`URL` of kube-apiserver")
	url := flag.String("url", "https://127.0.0.1:7443", "`URL` of the server to compare")
	token := flag.String("token", "admintoken", "bearer token for both")
	count := flag.Int("samples", 12, "objects of each version")
	seed := flag.Uint64("seed", 1, "where the objects begin")
	flag.Parse()
	c := &comparison{want: newServer(*peer, *token), got: newServer(*url, *token), samples: *count, seed: *seed}
	if err := run(c, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if c.differences > 0 {
		os.Exit(1)
	}
}

// run compares the sets with these names, or all.
func run(c *comparison, names []string) error {
	var all []set
	if err := yaml.UnmarshalStrict(known, &all); err != nil {
		return err
	}
	fmt.Printf("%-22s %5s %8s %7s %8s %9s %11s\n", "set", "CRDs", "versions", "objects", "requests", "refusals", "differences")
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		definitions, err := s.definitions()
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		sum := c.counts
		for _, d := range definitions {
			if err := c.definition(d); err != nil {
				return fmt.Errorf("%s: %s: %w", s.Name, d.Name, err)
			}
		}
		n := c.since(sum)
		fmt.Printf("%-22s %5d %8d %7d %8d %9d %11d\n", s.Name, len(definitions), n.versions, n.objects, n.requests, n.refusals, n.differences)
	}
	n := c.counts
	fmt.Printf("%-22s %5d %8d %7d %8d %9d %11d\n", "all", n.definitions, n.versions, n.objects, n.requests, n.refusals, n.differences)
	return nil
}

// template is what a chart puts into a manifest.
var template = regexp.MustCompile(`{{[^}]*}}`)

// definitions are those of a set, without the converters and owners that are not there.
func (s set) definitions() (all []*apiextensionsv1.CustomResourceDefinition, err error) {
	out, err := exec.Command("go", "mod", "download", "-json", s.Module).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.Module, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	for _, p := range s.Paths {
		err := filepath.WalkDir(filepath.Join(module.Dir, p), func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || e.IsDir() || ext != ".yaml" && ext != ".yml" {
				return err
			}
			found, err := read(path)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// read are the definitions in a file.
func read(path string) (all []*apiextensionsv1.CustomResourceDefinition, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	docs := utilyaml.NewDocumentDecoder(f)
	defer func() { _ = docs.Close() }()
	buf := make([]byte, 8<<20)
	for {
		n, err := docs.Read(buf)
		if err != nil { // the end
			return all, nil
		}
		var c apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(template.ReplaceAll(buf[:n], []byte("x")), &c); err != nil || c.Kind != "CustomResourceDefinition" {
			continue // something else that lies beside
		}
		c.ObjectMeta.OwnerReferences, c.Status = nil, apiextensionsv1.CustomResourceDefinitionStatus{}
		c.Spec.Conversion = nil
		all = append(all, &c)
	}
}
