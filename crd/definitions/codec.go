package definitions

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// codec is the stored form, which is kube-apiserver's: JSON at v1beta1, the
// version that was current when the first definitions were stored. It reads v1
// and protobuf as well.
type codec struct{}

var stored = codecs.LegacyCodec(v1beta1.SchemeGroupVersion)

func (codec) Decode(data []byte) (map[string]any, error) {
	obj, err := runtime.Decode(codecs.UniversalDecoder(), data)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	in, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("stored object: it is a %T", obj)
	}
	return fromInternal(in)
}

func (codec) Encode(tree map[string]any) ([]byte, error) {
	in, err := internal(tree)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(stored, in)
}
