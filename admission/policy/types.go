package policy

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	openapischema "k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd/cel"
)

// Types knows the types of objects.
type Types interface {
	// Kind is that of a resource at a version; served is false when there is no
	// such resource.
	Kind(r schema.GroupVersionResource) (kind schema.GroupVersionKind, served bool)
	// Schema is the schema of whole objects of a kind, nil when nothing is known
	// of them.
	Schema(kind schema.GroupVersionKind) *apiextensionsv1.JSONSchemaProps
}

// maxTypes is the most types that a rule is checked with.
const maxTypes = 10

// maxNames is how many of the resources that the rules of a policy name are
// looked up: three long lists name more than anybody could.
const maxNames = 10000

// Check checks the expressions of a policy, which compile, by the types that its
// rules name one by one. What is wrong is a warning: at run time objects may be
// of other types.
func Check(p *admissionv1.ValidatingAdmissionPolicy, types Types) ([]admissionv1.ExpressionWarning, error) {
	c := checker{policy: p}
	if p.Spec.ParamKind != nil {
		kind := schema.FromAPIVersionAndKind(p.Spec.ParamKind.APIVersion, p.Spec.ParamKind.Kind)
		var err error
		if c.params, err = typeOf(types.Schema(kind), "params"); err != nil {
			return nil, fmt.Errorf("the type of %v: %w", kind, err)
		}
	}
	for _, kind := range kindsOf(p.Spec.MatchConstraints, types) {
		t, err := typeOf(types.Schema(kind), "object")
		if err != nil {
			return nil, fmt.Errorf("the type of %v: %w", kind, err)
		}
		if t == nil {
			continue
		}
		compiler, err := c.compiler(t)
		if err != nil {
			return nil, err
		}
		c.kinds, c.compilers = append(c.kinds, kind), append(c.compilers, compiler)
	}
	var out []admissionv1.ExpressionWarning
	for i, v := range p.Spec.Validations {
		at := field.NewPath("spec", "validations").Index(i)
		out = c.appendWarning(out, at.Child("expression"), v.Expression)
		if v.MessageExpression != "" {
			out = c.appendWarning(out, at.Child("messageExpression"), v.MessageExpression)
		}
	}
	return out, nil
}

// checker checks the expressions of one policy.
type checker struct {
	policy *admissionv1.ValidatingAdmissionPolicy
	params *apiservercel.DeclType
	// compilers are by the kind that the object has.
	kinds     []schema.GroupVersionKind
	compilers []*admissioncel.CompositedCompiler
}

func (c *checker) sees() cel.Sees {
	return cel.Sees{HasParams: c.policy.Spec.ParamKind != nil, HasAuthorizer: true}
}

// compiler knows the variables of the policy, for an object of a type.
func (c *checker) compiler(object *apiservercel.DeclType) (*admissioncel.CompositedCompiler, error) {
	namespace, request := admissioncel.BuildNamespaceType(), admissioncel.BuildRequestType()
	declared := []*apiservercel.DeclType{namespace, request, object}
	variables := []celgo.EnvOption{
		celgo.Variable(admissioncel.NamespaceVarName, namespace.CelType()), celgo.Variable(admissioncel.RequestVarName, request.CelType()),
		celgo.Variable(admissioncel.ObjectVarName, object.CelType()), celgo.Variable(admissioncel.OldObjectVarName, object.CelType()),
		celgo.Variable(admissioncel.AuthorizerVarName, library.AuthorizerType),
		celgo.Variable(admissioncel.RequestResourceAuthorizerVarName, library.ResourceCheckType),
	}
	if c.policy.Spec.ParamKind != nil {
		params := celgo.DynType
		if c.params != nil {
			declared, params = append(declared, c.params), c.params.CelType()
		}
		variables = append(variables, celgo.Variable(admissioncel.ParamsVarName, params))
	}
	set, err := cel.Base().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: variables, DeclTypes: declared,
	})
	if err != nil {
		return nil, err
	}
	out, err := admissioncel.NewCompositedCompilerForTypeChecking(set)
	if err != nil {
		return nil, err
	}
	out.Compiler = onlyTypes{out}
	for _, v := range c.policy.Spec.Variables {
		out.CompileAndStoreVariable(cel.Variable(v.Name, v.Expression), c.sees(), environment.StoredExpressions)
	}
	return out, nil
}

// onlyTypes compiles expressions as far as their types, whatever these are.
type onlyTypes struct {
	of *admissioncel.CompositedCompiler
}

// CompileCELExpression implements [admissioncel.Compiler].
func (c onlyTypes) CompileCELExpression(e admissioncel.ExpressionAccessor, _ admissioncel.OptionalVariableDeclarations, mode environment.Type) admissioncel.CompilationResult {
	env, err := c.of.Env(mode)
	if err != nil {
		return admissioncel.CompilationResult{Error: &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: "fail to build env: " + err.Error()}, ExpressionAccessor: e}
	}
	ast, issues := env.Compile(e.GetExpression())
	if issues != nil {
		return admissioncel.CompilationResult{Error: &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: issues.String()}, ExpressionAccessor: e}
	}
	return admissioncel.CompilationResult{OutputType: ast.OutputType(), ExpressionAccessor: e}
}

func (c *checker) appendWarning(out []admissionv1.ExpressionWarning, at *field.Path, text string) []admissionv1.ExpressionWarning {
	var warnings []string
	for i, compiler := range c.compilers {
		if err := compiler.CompileCELExpression(cel.Variable("", text), c.sees(), environment.StoredExpressions).Error; err != nil {
			warnings = append(warnings, fmt.Sprintf("%v: %v\n", c.kinds[i], err))
		}
	}
	if len(warnings) == 0 {
		return out
	}
	return append(out, admissionv1.ExpressionWarning{FieldRef: at.String(), Warning: strings.Join(warnings, "\n")})
}

// kindsOf are the kinds that rules name, in order, as far as they do so without
// wildcards.
func kindsOf(m *admissionv1.MatchResources, types Types) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	if m == nil {
		return nil
	}
	left := maxNames
	for _, r := range m.ResourceRules {
		found := 0
		for one := range named(&r.Rule) {
			if left--; left < 0 || found == maxTypes {
				break
			}
			kind, served := types.Kind(one)
			if !served {
				continue
			}
			found++
			if !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.Group+" "+a.Version+" "+a.Kind, b.Group+" "+b.Version+" "+b.Kind)
	})
	return out
}

// named are the resources that a rule names one by one, in order.
func named(r *admissionv1.Rule) iter.Seq[schema.GroupVersionResource] {
	plain := func(names []string, special string) []string {
		return slices.Sorted(func(yield func(string) bool) {
			for _, n := range names {
				if !strings.ContainsAny(n, special) && !yield(n) {
					return
				}
			}
		})
	}
	groups, versions, resources := plain(r.APIGroups, "*"), plain(r.APIVersions, "*"), plain(r.Resources, "*/")
	return func(yield func(schema.GroupVersionResource) bool) {
		for _, group := range groups {
			for _, v := range versions {
				for _, resource := range resources {
					if !yield(schema.GroupVersionResource{Group: group, Version: v, Resource: resource}) {
						return
					}
				}
			}
		}
	}
}

// typeOf is the type of objects with a schema, nil for no schema.
func typeOf(s *apiextensionsv1.JSONSchemaProps, name string) (*apiservercel.DeclType, error) {
	if s == nil {
		return nil, nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var read openapischema.Schema
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, err
	}
	t := celcommon.SchemaDeclType(&openapi.Schema{Schema: &read}, true)
	if t == nil {
		return nil, nil
	}
	return t.MaybeAssignTypeName("types." + name), nil
}
