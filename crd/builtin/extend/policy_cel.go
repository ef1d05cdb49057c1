package extend

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"

	"github.com/wasmgate/wasmgate/crd/cel"
)

const (
	// maxAnnotations is the most audit annotations of a policy, and
	// maxAnnotationBytes the longest expression of one.
	maxAnnotations     = 20
	maxAnnotationBytes = 5 << 10
)

var (
	celName     = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	celReserved = []string{
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
		"let", "loop", "package", "namespace", "return", "var", "void", "while",
	}
)

// expressions are those of a policy that stay as they are when it is updated.
func (p policy) expressions() (all []string) {
	for _, c := range p.conditions {
		all = append(all, c.Expression)
	}
	for _, v := range p.validations {
		all = append(all, v.Expression, v.MessageExpression)
	}
	for _, a := range p.annotations {
		all = append(all, a.ValueExpression)
	}
	for _, m := range p.mutations {
		if m.ApplyConfiguration != nil {
			all = append(all, m.ApplyConfiguration.Expression)
		}
		if m.JSONPatch != nil {
			all = append(all, m.JSONPatch.Expression)
		}
	}
	return all
}

// validateExpressions checks what a policy does; stored are the expressions
// that it had before.
func (p policy) validateExpressions(stored []string, spec *field.Path) field.ErrorList {
	c := checker{cel.Plain(), stored}
	var errs field.ErrorList
	if len(p.variables) > 0 || p.mutating {
		composed, err := cel.Composed()
		if err != nil {
			return field.ErrorList{field.InternalError(spec.Child("variables"), err)}
		}
		for i, v := range p.variables {
			errs = append(errs, p.validateVariable(v, composed, c, spec.Child("variables").Index(i))...)
		}
		c.compiler = composed
	}
	if p.mutating {
		return append(errs, p.validateMutations(c, spec)...)
	}
	if len(p.validations)+len(p.annotations) == 0 {
		const missing = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(spec.Child("validations"), missing), field.Required(spec.Child("auditAnnotations"), missing))
	}
	for i, v := range p.validations {
		errs = append(errs, p.validateValidation(v, c, spec.Child("validations").Index(i))...)
	}
	return append(errs, p.validateAnnotations(c, spec.Child("auditAnnotations"))...)
}

// sees are the variables of a policy's expressions.
func (p policy) sees() cel.Sees {
	return cel.Sees{HasParams: p.params != nil, HasAuthorizer: true}
}

func (p policy) validateVariable(v admissionv1.Variable, composed *admissioncel.CompositedCompiler, c checker, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case strings.TrimSpace(v.Name) == "":
		errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
	case !celName.MatchString(v.Name) || slices.Contains(celReserved, v.Name):
		errs = append(errs, field.Invalid(at.Child("name"), v.Name, "must be a valid CEL identifier"))
	}
	if strings.TrimSpace(v.Expression) == "" {
		return append(errs, field.Required(at.Child("expression"), "expression is not specified"))
	}
	result := composed.CompileAndStoreVariable(cel.Variable(v.Name, v.Expression), p.sees(), c.environment(v.Expression))
	return append(errs, invalid(result, at.Child("expression"))...)
}

func (p policy) validateValidation(v admissionv1.Validation, c checker, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, c.check(cel.Condition(v.Expression), p.sees(), at.Child("expression"))...)
	}
	const empty = "must be non-empty if specified"
	switch {
	case v.MessageExpression == "":
	case strings.TrimSpace(v.MessageExpression) == "":
		errs = append(errs, field.Invalid(at.Child("messageExpression"), v.MessageExpression, empty))
	default:
		sees := cel.Sees{HasParams: p.params != nil}
		errs = append(errs, c.check(cel.Message(v.MessageExpression), sees, at.Child("messageExpression"))...)
	}
	switch message := strings.TrimSpace(v.Message); {
	case v.Message != "" && message == "":
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, empty))
	case strings.ContainsAny(message, "\r\n"):
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "must not contain line breaks"))
	}
	return append(errs, oneOf(v.Reason, policyReasons, at.Child("reason"))...)
}

func (p policy) validateAnnotations(c checker, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.annotations) > maxAnnotations {
		shown := make([]struct{ Key, ValueExpression string }, len(p.annotations)) // as kube-apiserver prints it
		for i, a := range p.annotations {
			shown[i].Key, shown[i].ValueExpression = a.Key, a.ValueExpression
		}
		errs = append(errs, field.Invalid(at, shown, fmt.Sprintf("must not have more than %d auditAnnotations", maxAnnotations)))
	}
	keys := map[string]bool{}
	for i, a := range p.annotations {
		here := at.Index(i)
		if p.meta.Name == "" {
			errs = append(errs, field.Invalid(here.Child("key"), a.Key, "requires metadata.name be non-empty"))
		} else {
			for _, msg := range validation.IsQualifiedName(p.meta.Name + "/" + a.Key) {
				errs = append(errs, field.Invalid(here.Child("key"), p.meta.Name+"/"+a.Key, msg))
			}
		}
		value := here.Child("valueExpression")
		switch text := strings.TrimSpace(a.ValueExpression); {
		case text == "":
			errs = append(errs, field.Required(value, "valueExpression is not specified"))
		case len(text) > maxAnnotationBytes:
			errs = append(errs, field.Required(value, fmt.Sprintf("must not exceed %d bytes in length", maxAnnotationBytes)))
		default:
			errs = append(errs, c.check(cel.Annotation(a.ValueExpression), p.sees(), value)...)
		}
		if keys[a.Key] {
			errs = append(errs, field.Duplicate(here.Child("key"), a.Key))
		}
		keys[a.Key] = true
	}
	return errs
}

func (p policy) validateMutations(c checker, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := spec.Child("mutations")
	if len(p.mutations) == 0 {
		errs = append(errs, field.Required(at, "mutations must contain at least one item"))
	}
	for i := range p.mutations {
		errs = append(errs, p.validateMutation(&p.mutations[i], c, at.Index(i))...)
	}
	if p.again == "" {
		return append(errs, field.Required(spec.Child("reinvocationPolicy"), ""))
	}
	return append(errs, oneOf(&p.again, reinvocations, spec.Child("reinvocationPolicy"))...)
}

func (p policy) validateMutation(m *admissionv1.Mutation, c checker, at *field.Path) field.ErrorList {
	sees := p.sees()
	sees.HasPatchTypes = true
	var errs field.ErrorList
	expression := func(text string, make func(string) admissioncel.ExpressionAccessor, at *field.Path) {
		if text = strings.TrimSpace(text); text == "" {
			errs = append(errs, field.Required(at, ""))
			return
		}
		errs = append(errs, c.check(make(text), sees, at)...)
	}
	config, jsonPatch := at.Child("applyConfiguration"), at.Child("jsonPatch")
	switch m.PatchType {
	case "":
		errs = append(errs, field.Required(at.Child("patchType"), ""))
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			errs = append(errs, field.Required(jsonPatch, "must be specified when patchType is JSONPatch"))
		} else {
			expression(m.JSONPatch.Expression, func(t string) admissioncel.ExpressionAccessor { return &patch.JSONPatchCondition{Expression: t} }, jsonPatch.Child("expression"))
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(config, "{applyConfiguration}", "must not be specified when patchType is JSONPatch"))
		}
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			errs = append(errs, field.Required(config, "must be specified when patchType is ApplyConfiguration"))
		} else {
			expression(m.ApplyConfiguration.Expression, func(t string) admissioncel.ExpressionAccessor {
				return &patch.ApplyConfigurationCondition{Expression: t}
			}, config.Child("expression"))
		}
		if m.JSONPatch != nil {
			errs = append(errs, field.Invalid(jsonPatch, "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"))
		}
	default:
		errs = append(errs, oneOf(&m.PatchType, patchTypes, at.Child("patchType"))...)
	}
	return errs
}
