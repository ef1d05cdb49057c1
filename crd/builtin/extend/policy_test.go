package extend

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

func TestManyFaultsOfAPolicyAreAllToldOf(t *testing.T) {
	p := policy{meta: &(&validatingPolicy{}).ObjectMeta, variables: []admissionv1.Variable{{Name: "a b"}}}
	if got := len(p.validate(policy{})); got != 7 {
		t.Errorf("%d errors: %v", got, p.validate(policy{}))
	}
}
