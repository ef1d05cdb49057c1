package conversionrules

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of ConversionRules.
func (s *Source) Kind() kinds.Kind {
	return kinds.Kind{
		Extend: func(d *crd.Definition) {
			if d.GroupResource() != gvr.Rules {
				return
			}
			d.Hooks = inUse{}
			for _, v := range d.Versions {
				v.Strategy = written{v.Strategy}
			}
		},
		Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
			return []admission.Plugin{newGuard(local.Part(e, "conversion-rules"))}, nil
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			s.kind.Store(e.Catalog().Snapshot().Resource(gvr.Rules))
			return kinds.Served{Controllers: func() []kinds.Controller {
				return []kinds.Controller{{Controller: newController(local.Part(e, "conversion-rules"))}}
			}}, nil
		},
	}
}

// written is the strategy with a check of what no schema can say: rules that do not
// compile are refused when they are written.
type written struct{ crd.Strategy }

// Validate implements [crd.Strategy].
func (w written) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	v := w.Strategy.Validate(ctx, obj, old)
	if len(v.Errors) > 0 {
		return v
	}
	spec, err := read(obj)
	if err != nil {
		v.Errors = append(v.Errors, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error()))
		return v
	}
	if old == nil || !reflect.DeepEqual(gvr.Section(old, "spec"), gvr.Section(obj, "spec")) {
		_, v.Errors = rules.Compile(spec)
		return v
	}
	// What else changes, such as labels, is no reason to refuse rules that convert already.
	_, doubts, errs := rules.CompileStored(spec)
	v.Errors = errs
	if doubted := excerpt.Errors(doubts); doubted != nil {
		v.Warnings = append(v.Warnings, gvr.Shorten(doubted.Error()))
	}
	return v
}

// read reads the rules of an object.
func read(obj *unstructured.Unstructured) (rules.Spec, error) {
	data, err := json.Marshal(gvr.Section(obj, "spec"))
	if err != nil {
		return rules.Spec{}, err
	}
	return rules.Decode(data)
}

// inUse refuses to delete rules that definitions refer to.
type inUse struct{}

// maxNamed is how many definitions a refusal names.
const maxNamed = 10

// BeforeDelete implements crd.Hooks.
func (inUse) BeforeDelete(ctx context.Context, there crd.Objects, obj map[string]any) error {
	name := (&unstructured.Unstructured{Object: obj}).GetName()
	if err := there.Fresh(ctx); err != nil {
		return err
	}
	bound, err := bound(ctx, there, name)
	if err != nil || len(bound) == 0 {
		return err
	}
	var names []string
	for _, d := range bound[:min(len(bound), maxNamed)] {
		names = append(names, "customresourcedefinitions/"+d.GetName())
	}
	return apierrors.NewConflict(gvr.Rules, name, fmt.Errorf("the rules are in use by %s; change or delete what refers to them first", strings.Join(names, ", ")))
}

// StillFinalizing implements crd.Hooks.
func (inUse) StillFinalizing(map[string]any) bool { return false }

// bound are the definitions that convert by the rules of a name.
func bound(ctx context.Context, objects client.Lister, name string) (found []*unstructured.Unstructured, err error) {
	all, err := objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if rulesOf(d) == name {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

// rulesOf are the rules that a definition names; "" for none.
func rulesOf(definition *unstructured.Unstructured) string {
	url, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	name, _ := crd.RulesName(url)
	return name
}
