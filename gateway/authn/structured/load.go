package structured

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
)

// decode reads an AuthenticationConfiguration of any of its versions.
func decode(data []byte) (*apiserver.AuthenticationConfiguration, error) {
	if len(data) == 0 {
		return nil, errors.New("the file is empty")
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), data)
	if err != nil {
		return nil, err
	}
	c, ok := object.(*apiserver.AuthenticationConfiguration)
	if !ok {
		return nil, fmt.Errorf("expected AuthenticationConfiguration, got %T", object)
	}
	return c, nil
}

// validate tells what is wrong with a configuration; own are the issuers of this
// gateway's service accounts, which nobody else may be.
func validate(compiler authenticationcel.Compiler, c *apiserver.AuthenticationConfiguration, own []string) error {
	if err := validation.ValidateAuthenticationConfiguration(compiler, c, own).ToAggregate(); err != nil {
		return fmt.Errorf("invalid authentication configuration: %w", err)
	}
	return nil
}
