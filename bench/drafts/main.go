// Command drafts owns a measurement: what `wasmgate module init --from` makes of the
// CustomResourceDefinitions that other projects published, beside what their own converters
// do (known.yaml):
//
//	go run ./bench/drafts
//
// It takes the modules from the Go module proxy. It must not know the gateway.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/crd/version"
)

//go:embed known.yaml
var known []byte

// subject is a definition, and what becomes of its fields.
type subject struct {
	Module, File string
	Changes      []struct {
		Pair, From, To string
		Map            map[string]string
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var all []subject
	if err := yaml.UnmarshalStrict(known, &all); err != nil {
		return err
	}
	right, marked, wrong, total := 0, 0, 0, 0
	for _, s := range all {
		ops, err := s.draft()
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.Module, s.File, err)
		}
		for _, c := range s.Changes {
			total++
			verdict := "wrong, without a mark"
			switch got, certain := find(ops[c.Pair], c.From, c.To, c.Map); {
			case got && certain:
				right++
				verdict = "right"
			case got:
				right++
				marked++
				verdict = "right, marked"
			case !certain:
				verdict = "wrong, marked"
			default:
				wrong++
			}
			fmt.Printf("%-22s %s %s %s\n", verdict, filepath.Base(s.File), c.Pair, c.From)
		}
	}
	fmt.Printf("%d changed fields: %d right (%d%%), %d of them marked; %d wrong without a mark\n", total, right, 100*right/total, marked, wrong)
	return nil
}

// find looks for the operation on a field: whether it is the known one, and whether it is
// certain. A field that nothing is said of counts as certain.
func find(ops []draft.Op, from, to string, values map[string]string) (got, certain bool) {
	certain = true
	for _, op := range ops {
		if op.At != from {
			continue
		}
		certain = certain && op.Certain
		switch {
		case op.Map != nil && values != nil && covers(op.Map.Values, values):
			return true, op.Certain
		case op.Move != nil && op.Move.To == to:
			return true, op.Certain
		case op.Rename != nil && to != "" && filepath.Ext("x."+to) == "."+op.Rename.To:
			return true, op.Certain
		}
	}
	return false, certain
}

// covers tells whether a map has all that it should.
func covers(got, want map[string]string) bool {
	for _, from := range slices.Collect(maps.Keys(want)) {
		if got[from] != want[from] {
			return false
		}
	}
	return true
}

var template = regexp.MustCompile(`{{[^}]*}}`)

// draft drafts all pairs of neighbours of a definition.
func (s subject) draft() (map[string][]draft.Op, error) {
	out, err := exec.Command("go", "mod", "download", "-json", s.Module).Output()
	if err != nil {
		return nil, err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, s.File))
	if err != nil {
		return nil, err
	}
	var c apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(template.ReplaceAll(text, []byte("x")), &c); err != nil {
		return nil, err
	}
	versions := c.Spec.Versions
	slices.SortStableFunc(versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int { return version.Compare(b.Name, a.Name) })
	ops := map[string][]draft.Op{}
	for i, v := range versions[1:] {
		from := versions[i]
		d := draft.Between(draft.Version{Name: from.Name, Schema: from.Schema.OpenAPIV3Schema}, draft.Version{Name: v.Name, Schema: v.Schema.OpenAPIV3Schema})
		ops[from.Name+":"+v.Name] = d.Ops
	}
	return ops, nil
}
