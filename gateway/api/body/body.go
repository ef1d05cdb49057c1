package body

import (
	"bytes"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Body is the body of a request.
type Body struct {
	ContentType string
	Data        []byte
	// CBOR: it may be CBOR.
	CBOR bool
}

// Object is the body, an object of the target's kind, as JSON. What YAML repeats is
// added to o.
func (b Body) Object(t resource.Target, o *resource.WriteOptions) ([]byte, error) {
	media, err := b.Media()
	switch {
	case err == nil && media == encoding.TypeYAML:
		out, err := yamlToJSON(b.Data)
		if err != nil {
			return nil, t.Unrecognized(err, b.Data)
		}
		noteRepeated(b.Data, "", o)
		return out, nil
	case err == nil && media == encoding.TypeProtobuf && dialect.Messages(t):
		return b.message(t)
	}
	return b.JSON()
}

// message is an object in protobuf, as JSON.
func (b Body) message(t resource.Target) ([]byte, error) {
	e, err := wire.Open(b.Data)
	if err != nil {
		return nil, t.Unrecognized(err, b.Data)
	}
	if scale.Paths(t.Version, t.Subresource) != nil {
		return scaleBody(e)
	}
	if e.Kind != t.Resource.Def.Kind {
		return nil, t.OfOtherKind(e.Kind, e.APIVersion)
	}
	tree, err := t.Resource.Def.Codec.Decode(b.Data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if e.APIVersion != "" { // what is read of older versions is what is stored, and no body
		tree["apiVersion"] = e.APIVersion
	}
	return object.Encode(tree)
}

// scaleBody reads a Scale in protobuf, as JSON.
func scaleBody(e wire.Envelope) ([]byte, error) {
	var s autoscalingv1.Scale
	if err := s.Unmarshal(e.Raw); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	s.APIVersion, s.Kind = e.APIVersion, e.Kind
	return json.Marshal(&s)
}

// Question is the body as who answers questions gets it: in JSON, or protobuf as it is.
// What YAML repeats is added to o.
func (b Body) Question(o *resource.WriteOptions) (contentType string, body []byte, err error) {
	media, err := b.Media()
	switch {
	case err == nil && media == encoding.TypeProtobuf:
		return media, b.Data, nil
	case err == nil && media == encoding.TypeYAML:
		noteRepeated(b.Data, "", o)
	}
	body, err = b.JSON()
	return encoding.TypeJSON, body, err
}

// JSON is the body as JSON.
func (b Body) JSON() ([]byte, error) {
	media, err := b.Media()
	if err != nil {
		return nil, err
	}
	out := b.Data
	switch {
	case media == encoding.TypeJSON:
	case media == encoding.TypeYAML:
		out, err = yamlToJSON(out)
	case media == encoding.TypeCBOR && b.CBOR:
		out, err = encoding.FromCBOR(out)
	default:
		return nil, b.unsupported()
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return out, nil
}

// Patch is the body of a patch as JSON: as it was sent, unless that was something else.
// It is nil where it is none.
func (b Body) Patch() []byte {
	var out []byte
	media, err := b.Media()
	switch {
	case err != nil:
	case media == mediaApplyCBOR:
		out, err = encoding.FromCBOR(b.Data)
	case json.Valid(b.Data):
		out = b.Data
	case b.Applies(media):
		out, err = yamlToJSON(b.Data)
	}
	if err != nil {
		return nil
	}
	return out
}

// Options are the options of a deletion that the body holds, as JSON; nil where it holds
// none.
func (b Body) Options() []byte {
	if len(b.Data) == 0 {
		return nil
	}
	if media, err := b.Media(); err == nil && media == encoding.TypeProtobuf {
		o := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
		if protobufDeleteOptions(b.Data, &o) != nil {
			return nil
		}
		out, err := json.Marshal(&o)
		if err != nil {
			return nil
		}
		return out
	}
	out, err := b.JSON()
	if err != nil {
		return nil
	}
	return out
}

// Configuration is the body of an apply, in YAML, JSON or CBOR. What it repeats is
// added to o.
func (b Body) Configuration(media string, o *resource.WriteOptions) (map[string]any, error) {
	if media != mediaApplyCBOR {
		return configuration(b.Data, o)
	}
	data, err := encoding.FromCBOR(b.Data)
	if err != nil {
		return nil, apierrors.NewBadRequest("error decoding CBOR: " + err.Error())
	}
	return configuration(data, o)
}

// configuration reads the body of an apply, YAML or JSON, and adds to o what it
// repeats.
func configuration(body []byte, o *resource.WriteOptions) (map[string]any, error) {
	if config, repeated, err := object.Parse(body); err == nil && len(repeated) == 0 && sameAsYAML(body) {
		return object.Reread(config) // to kube-apiserver it is YAML
	}
	data, err := yamlToJSON(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: error converting YAML to JSON: %v", err))
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return map[string]any{}, nil
	}
	config, _, err := object.Parse(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: error unmarshaling JSON: while decoding JSON: %v", err))
	}
	noteRepeated(body, "error converting YAML to JSON: ", o)
	return config, nil
}
