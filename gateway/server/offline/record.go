package offline

import (
	"context"
	"fmt"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Record implements [workbench.Authoring].
func (Tools) Record(ctx context.Context, what workbench.Recording) (out workbench.Recorded, err error) {
	d, err := readDefinition(what.Definitions)
	if err != nil {
		return out, err
	}
	r, err := proof.NewRecorder(d, what.Version)
	if err != nil {
		return out, err
	}
	var objects []map[string]any
	for _, data := range what.Objects {
		tree, _, err := object.Parse(data)
		if err != nil {
			return out, err
		}
		if kind, _ := tree["kind"].(string); kind != d.Kind || tree["apiVersion"] != d.APIVersion(what.Version) {
			return out, fmt.Errorf("an object is %v %v, and not %s %s", tree["apiVersion"], tree["kind"], d.APIVersion(what.Version), d.Kind)
		}
		objects = append(objects, tree)
	}
	got := r.Record(objects, what.Most)
	out = workbench.Recorded{Definition: d.Plural + "." + d.Group, Version: what.Version, Objects: len(objects), Refused: got.Refused, Reached: got.Reached, Fields: got.Fields, Names: []string{}}
	for i, obj := range got.Objects {
		data, err := object.Encode(obj)
		if err != nil {
			return out, err
		}
		text, err := sigsyaml.JSONToYAML(data)
		if err != nil {
			return out, err
		}
		name := fmt.Sprintf("%s-%s-%d.yaml", d.Singular, what.Version, i+1)
		out.Files, out.Names = append(out.Files, workbench.File{Name: name, Content: text}), append(out.Names, name)
	}
	return out, ctx.Err()
}
