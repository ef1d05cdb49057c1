package resource

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxProblems is the most unknown or duplicate fields that are named.
const MaxProblems = 100

// Report warns of unknown and duplicate fields, or refuses them with an error that is
// no status, as the options ask.
func (o WriteOptions) Report(problems []string) error {
	if len(problems) == 0 || o.FieldValidation == metav1.FieldValidationIgnore {
		return nil
	}
	problems = problems[:min(len(problems), MaxProblems)]
	if o.FieldValidation == metav1.FieldValidationStrict {
		return fmt.Errorf("strict decoding error: %s", strings.Join(problems, ", "))
	}
	for _, p := range problems {
		o.AddWarning(p)
	}
	return nil
}
