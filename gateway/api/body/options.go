package body

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// DeleteOptions reads the options of a deletion from its body, or from the query
// when there is none. The engine says what is wrong with them.
func (b Body) DeleteOptions(p query.Parameters) (*metav1.DeleteOptions, resource.WriteOptions, error) {
	o := &metav1.DeleteOptions{}
	var err error
	if len(b.Data) > 0 {
		err = b.deleteOptions(o)
	} else {
		o, err = p.Delete()
	}
	if err != nil {
		return nil, resource.WriteOptions{}, err
	}
	return o, resource.WriteOptions{DryRun: len(o.DryRun) > 0}, nil
}

func (b Body) deleteOptions(o *metav1.DeleteOptions) error {
	if media, err := b.Media(); err == nil && media == encoding.TypeProtobuf {
		return protobufDeleteOptions(b.Data, o)
	}
	body, err := b.JSON()
	if err != nil {
		return err
	}
	return decodeDeleteOptions(body, o)
}

func decodeDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	var said struct { // as kube-apiserver has it, which quotes the type
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("couldn't get version/kind; json parse error: %v", err))
	}
	if said.Kind != "" && said.Kind != "DeleteOptions" {
		return apierrors.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q", said.Kind, said.APIVersion))
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// protobufDeleteOptions reads options in the form that typed clients send.
func protobufDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	e, err := wire.Open(body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := o.Unmarshal(e.Raw); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}
