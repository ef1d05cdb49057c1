package trust

import (
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

const (
	// maxStatements bounds how many an authority has to state; a module carries no more.
	maxStatements = signature.MaxBundles
	// maxCondition bounds a condition.
	maxCondition = 4096
	// maxTold bounds what is told of the library's words, which may be a predicate's.
	maxTold = 512
)

// statement is what has to be stated of a module.
type statement struct {
	PredicateType string `json:"predicateType"`
	// Condition is an expression in CEL whose self is the predicate; "" for any.
	Condition string `json:"condition,omitempty"`
}

// readStatements makes statements ready. What is wrong is told by field.
func readStatements(all []statement, at *field.Path) (ready []signature.Stated, errs field.ErrorList) {
	if len(all) > maxStatements {
		return nil, field.ErrorList{field.TooMany(at, len(all), maxStatements)}
	}
	for i, s := range all {
		at, one := at.Index(i), signature.Stated{PredicateType: s.PredicateType}
		if s.PredicateType == "" {
			errs = append(errs, field.Required(at.Child("predicateType"), "what has to be stated"))
		}
		switch {
		case len(s.Condition) > maxCondition:
			errs = append(errs, field.TooLong(at.Child("condition"), "", maxCondition))
		case s.Condition != "":
			e := dyn.Bounded(s.Condition)
			if err := e.Check(); err != nil {
				errs = append(errs, field.Invalid(at.Child("condition"), field.OmitValueType{}, err.Error()))
			}
			one.Holds = holds(e)
		}
		ready = append(ready, one)
	}
	return ready, errs
}

// holds evaluates a condition of a predicate, whose cost is bounded, but not its time: what is
// trusted does not depend on how much else there is to do.
func holds(e *dyn.Expression) func(predicate []byte) (bool, error) {
	return func(predicate []byte) (bool, error) {
		var self any
		if len(predicate) > 0 {
			if err := utiljson.Unmarshal(predicate, &self); err != nil {
				return false, fmt.Errorf("the predicate cannot be read: %s", excerpt.Of(err.Error(), maxTold))
			}
		}
		good, err := e.True(dyn.Variables{Self: self})
		if err != nil {
			return false, fmt.Errorf("%s", excerpt.Of(err.Error(), maxTold))
		}
		return good, nil
	}
}
