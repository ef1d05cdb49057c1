package plugin

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
)

// readConfiguration reads what an administrator says of a plugin, as JSON or YAML; nil is
// nothing. What nobody reads is refused: somebody relies on it.
func readConfiguration(text []byte, into any) error {
	if text == nil {
		return nil
	}
	asJSON, err := yaml.ToJSON(text)
	if err != nil {
		return err
	}
	problems, err := kjson.UnmarshalStrict(asJSON, into)
	if err != nil || len(problems) == 0 {
		return err
	}
	said := make([]string, len(problems))
	for i, p := range problems {
		said[i] = p.Error()
	}
	return fmt.Errorf("strict decoding error: %s", strings.Join(said, ", "))
}

// is says what a configuration is instead of what it has to be.
func is(got metav1.TypeMeta, group string) error {
	want := metav1.TypeMeta{APIVersion: group + "/v1alpha1", Kind: "Configuration"}
	if got == want {
		return nil
	}
	return fmt.Errorf("its configuration is a %s of %s, not %q of %q", want.Kind, want.APIVersion, got.Kind, got.APIVersion)
}
