package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// deleteOptions reads the options of a deletion from its body, or from the
// query when there is none. The engine says what is wrong with them.
func deleteOptions(r *Request, p query.Parameters) (*metav1.DeleteOptions, resource.WriteOptions, error) {
	o := &metav1.DeleteOptions{}
	var err error
	if len(r.Body) > 0 {
		err = bodyDeleteOptions(r, o)
	} else {
		o, err = p.Delete()
	}
	if err != nil {
		return nil, resource.WriteOptions{}, err
	}
	return o, resource.WriteOptions{DryRun: len(o.DryRun) > 0}, nil
}

func bodyDeleteOptions(r *Request, o *metav1.DeleteOptions) error {
	if media, err := r.bodyMedia(); err == nil && media == mediaProtobuf {
		return protobufDeleteOptions(r.Body, o)
	}
	body, err := jsonBody(r)
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

// objectBody is the request's body, an object of the target's kind, as JSON.
func objectBody(r *Request, t resource.Target) ([]byte, error) {
	media, err := r.bodyMedia()
	if err == nil && media == mediaYAML {
		out, err := yamlToJSON(r.Body)
		if err != nil {
			return nil, t.Unrecognized(err, r.Body)
		}
		return out, nil
	}
	if err != nil || media != mediaProtobuf || !dialect.Messages(t) {
		return jsonBody(r)
	}
	if err := beginsAsProtobuf(r.Body); err != nil {
		return nil, t.Unrecognized(err, r.Body)
	}
	if scaling(t) {
		return scaleBody(r.Body)
	}
	e, err := wire.Open(r.Body)
	if err != nil {
		return nil, t.Unrecognized(err, r.Body)
	}
	if e.Kind != t.Resource.Def.Kind {
		return nil, t.OfOtherKind(e.Kind, e.APIVersion)
	}
	tree, err := t.Resource.Def.Codec.Decode(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object.Encode(tree)
}

var (
	protobufPrefix = []byte(wire.Magic)
	errNoProtobuf  = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errNoData      = errors.New("empty data")
	errNoMessage   = errors.New("empty body")
)

// beginsAsProtobuf says what is wrong with the beginning of a body.
func beginsAsProtobuf(body []byte) error {
	switch {
	case len(body) == 0:
		return errNoData
	case !bytes.HasPrefix(body, protobufPrefix):
		return errNoProtobuf
	case len(body) == len(protobufPrefix):
		return errNoMessage
	}
	return nil
}

// scaleBody reads a Scale in protobuf, as JSON.
func scaleBody(body []byte) ([]byte, error) {
	e, err := wire.Open(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var s autoscalingv1.Scale
	if err := s.Unmarshal(e.Raw); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	s.APIVersion, s.Kind = e.APIVersion, e.Kind
	return json.Marshal(&s)
}

// protobufDeleteOptions reads options in the form that typed clients send.
func protobufDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	var u runtime.Unknown
	if !bytes.HasPrefix(body, protobufPrefix) {
		return apierrors.NewBadRequest(errNoProtobuf.Error())
	}
	if err := u.Unmarshal(body[len(protobufPrefix):]); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := o.Unmarshal(u.Raw); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// questionBody is the request's body as a [Question] gets it.
func questionBody(r *Request) (contentType string, body []byte, err error) {
	if media, err := r.bodyMedia(); err == nil && media == mediaProtobuf {
		return media, r.Body, nil
	}
	body, err = jsonBody(r)
	return mediaJSON, body, err
}

// jsonBody is the request's body as JSON.
func jsonBody(r *Request) ([]byte, error) {
	media, err := r.bodyMedia()
	if err != nil {
		return nil, err
	}
	switch media {
	case mediaJSON:
		return r.Body, nil
	case mediaYAML:
		out, err := yamlToJSON(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	case mediaCBOR:
		if !r.cbor {
			break
		}
		out, err := encoding.FromCBOR(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	}
	return nil, unsupportedMedia(r.cbor)
}
