package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// params are the parameters of a request, parsed once.
type params struct {
	// values are those that can be read.
	values url.Values
	// err tells why others cannot; nil when all can.
	err error
}

func parseParams(raw string) params {
	if raw == "" {
		return params{}
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		err = apierrors.NewBadRequest(err.Error())
	}
	withoutBareDryRun(raw, v)
	return params{v, err}
}

// withoutBareDryRun takes a dryRun without "=" from the parameters: the
// documentation says that it asks for nothing (row DRY-03). One that is empty
// stays, and is refused: whoever left out what belongs there did not mean to write.
func withoutBareDryRun(raw string, v url.Values) {
	const name = "dryRun"
	if !slices.Contains(v[name], "") {
		return
	}
	delete(v, name)
	for part := range strings.SplitSeq(raw, "&") {
		key, value, given := strings.Cut(part, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name || !given {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			v.Add(name, value)
		}
	}
}

// all are the parameters of a request that must not be misread.
func (p params) all() (url.Values, error) { return p.values, p.err }

// watch reads the watch parameter as kube-apiserver does: anything but "0"
// and "false" asks for one.
func (p params) watch() bool {
	if p.err != nil || !p.values.Has("watch") {
		return false
	}
	v := p.values.Get("watch")
	return v != "0" && !strings.EqualFold(v, "false")
}

// timeout is how long a request other than a watch may take: what the client
// allows, and never more than most.
func (p params) timeout(most time.Duration) (time.Duration, error) {
	v := p.values.Get("timeout")
	if v == "" {
		return most, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if d <= 0 {
		return most, nil
	}
	return min(d, most), nil
}

// listOptions reads and validates the options of list, watch and
// deletecollection. streamed: a watch may begin with what exists.
func listOptions(v url.Values, watch, streamed bool) (*internalversion.ListOptions, error) {
	o := &internalversion.ListOptions{}
	if v != nil {
		if err := internalscheme.ParameterCodec.DecodeParameters(v, metav1.SchemeGroupVersion, o); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	o.Watch = watch
	internalversion.SetListOptionsDefaults(o, streamed)
	if errs := listvalidation.ValidateListOptions(o, streamed); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	o.Limit = max(o.Limit, 0)
	return o, nil
}

// writeOptions reads the options of create, update and patch. applies tells a
// patch that is an apply. What is wrong is told in kube-apiserver's order.
func writeOptions(v url.Values, kind string, applies bool, w *warnings) (resource.WriteOptions, error) {
	o := resource.WriteOptions{Warn: w.add}
	if len(v) == 0 && !applies {
		return o, nil
	}
	var said metav1.PatchOptions // the options of a creation and of an update are part of it
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&v, &said, nil); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	if errs := validWrite(&said, kind, applies); len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	o.DryRun, o.FieldValidation = len(said.DryRun) > 0, said.FieldValidation
	o.Caller.FieldManager, o.Caller.Force = said.FieldManager, applies && said.Force != nil && *said.Force
	return o, nil
}

// validWrite is what is wrong with the options of a write, in kube-apiserver's
// order.
func validWrite(o *metav1.PatchOptions, kind string, applies bool) field.ErrorList {
	if kind != "PatchOptions" {
		return validation.ValidateCreateOptions(&metav1.CreateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation})
	}
	of := types.MergePatchType
	if applies {
		of = types.ApplyYAMLPatchType
	}
	return validation.ValidatePatchOptions(o, of)
}

// deleteOptions reads the options of a deletion from its body, or from the
// query when there is none. The engine says what is wrong with them.
func deleteOptions(r *Request, v url.Values) (*metav1.DeleteOptions, resource.WriteOptions, error) {
	o := &metav1.DeleteOptions{}
	var w resource.WriteOptions
	if len(r.Body) > 0 {
		if err := bodyDeleteOptions(r, o); err != nil {
			return nil, w, err
		}
	} else if err := internalscheme.ParameterCodec.DecodeParameters(v, metav1.SchemeGroupVersion, o); err != nil {
		return nil, w, apierrors.NewBadRequest(err.Error())
	}
	w.DryRun = len(o.DryRun) > 0
	return o, w, nil
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
	if err != nil || media != mediaProtobuf || !t.Version.Native() {
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
