package sdk

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// HandleConversion answers one ConversionReview: what a module does with every
// request, and all that an HTTPS conversion webhook has to do with the body of
// one. Conversions that fail give a review whose result is Failed. The reply
// is a fresh slice.
func HandleConversion(request []byte) []byte {
	var h handler
	return h.appendReply(make([]byte, 0, len(request)+256), request)
}

// handler answers reviews, one at a time. It keeps what is the same for the
// next one.
type handler struct {
	// conversions are those to the versions that were asked for so far, at
	// most maxConversions.
	conversions []*conversion
	// envelope is that of the review being answered.
	envelope envelope
}

// maxConversions is how many conversions a handler remembers: the versions of
// some kinds.
const maxConversions = 32

// to is the conversion to a version, which is a JSON string.
func (h *handler) to(desired []byte) (*conversion, error) {
	for _, c := range h.conversions {
		if bytes.Equal(c.raw, desired) {
			return c, nil
		}
	}
	version, _ := rawjson.String(desired)
	if version == "" {
		return nil, errors.New("the request has no desiredAPIVersion")
	}
	if len(h.conversions) == maxConversions {
		h.conversions = h.conversions[:0]
	}
	n := len(h.conversions)
	h.conversions = slices.Grow(h.conversions, 1)[:n+1]
	c := h.conversions[n]
	if c == nil {
		c = &conversion{}
		h.conversions[n] = c
	}
	c.begin(version) // with the memory of one before
	c.raw = append(c.raw[:0], desired...)
	return c, nil
}

// Apply converts one object to a version, for tests. apiVersion is
// "group/version".
func Apply(object []byte, apiVersion string) ([]byte, error) {
	end, err := rawjson.Skip(object, 0)
	if err != nil || rawjson.Space(object, end) != len(object) {
		return nil, errors.New("not a JSON object")
	}
	out, _, err := newConversion(apiVersion).appendConverted(nil, object, 0)
	return out, err
}

// envelope is what is read of a review before the objects.
type envelope struct {
	apiVersion []byte
	uid        []byte
	desired    []byte // a JSON string; nil until it was found
	// objectsAt is where the objects are, when they came before the version;
	// 0 when they did not.
	objectsAt int
}

var (
	reviewV1 = []byte(`"apiextensions.k8s.io/v1"`)
	noUID    = []byte(`""`)
)

// appendReply converts objects in the same pass in which it finds them, when
// the desired version comes before them, as it does.
func (h *handler) appendReply(dst, request []byte) []byte {
	start, e := len(dst), &h.envelope
	e.apiVersion, e.uid, e.desired, e.objectsAt = reviewV1, noUID, nil, 0
	dst = append(dst, `{"kind":"ConversionReview","response":{"convertedObjects":[`...)
	dst, err := e.read(h, dst, request)
	if err == nil && e.objectsAt != 0 {
		dst, _, err = h.appendObjects(dst, request, e.objectsAt, e.desired)
	}
	if err != nil {
		dst = append(dst[:start], `{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":`...)
		dst = rawjson.AppendString(dst, err.Error())
		dst = append(dst, `},"uid":`...)
	} else {
		dst = append(dst, `],"result":{"status":"Success"},"uid":`...)
	}
	dst = append(append(dst, e.uid...), `},"apiVersion":`...)
	return append(append(dst, e.apiVersion...), '}')
}

var errReview = errors.New("the request is not a ConversionReview")

func (e *envelope) read(h *handler, dst, request []byte) ([]byte, error) {
	i, object := rawjson.Enter(request, 0)
	for i > 0 {
		key, keyEnd, value := rawjson.Member(request, i, object)
		if value == 0 {
			i = key
			break
		}
		if string(request[key:keyEnd]) == "request" {
			end, err := 0, error(nil)
			if dst, end, err = e.readRequest(h, dst, request, value); err != nil {
				return dst, err
			}
			i = end
			continue
		}
		i = rawjson.Pass(request, value)
		if string(request[key:keyEnd]) == "apiVersion" {
			e.apiVersion = request[value:i]
		}
	}
	if i == 0 {
		return dst, errReview
	}
	return dst, nil
}

// readRequest returns where the request ends.
func (e *envelope) readRequest(h *handler, dst, request []byte, at int) (_ []byte, end int, failed error) {
	i, object := rawjson.Enter(request, at)
	// The uid is found even after a failed conversion, since the reply needs
	// it.
	for i > 0 {
		key, keyEnd, value := rawjson.Member(request, i, object)
		if value == 0 {
			i = key
			break
		}
		i = 0
		switch string(request[key:keyEnd]) {
		case "uid":
			i = rawjson.Pass(request, value)
			e.uid = request[value:i]
		case "desiredAPIVersion":
			i = rawjson.Pass(request, value)
			e.desired = request[value:i]
		case "objects":
			if e.desired == nil {
				e.objectsAt = value
			} else {
				dst, i, failed = h.appendObjects(dst, request, value, e.desired)
			}
		}
		if i == 0 {
			i = rawjson.Pass(request, value)
		}
	}
	if failed == nil && i == 0 {
		failed = errReview
	}
	return dst, i, failed
}

// appendObjects converts the array of objects at a position, and returns where
// it ends; 0 with an error.
func (h *handler) appendObjects(dst, request []byte, at int, desired []byte) ([]byte, int, error) {
	c, err := h.to(desired)
	if err != nil {
		return dst, 0, err
	}
	i, object := rawjson.Enter(request, at)
	if object {
		return dst, 0, errReview
	}
	for first := true; i > 0; first = false {
		end, _, value := rawjson.Member(request, i, false)
		if value == 0 {
			i = end
			break
		}
		if !first {
			dst = append(dst, ',')
		}
		if dst, i, err = c.appendConverted(dst, request, value); err != nil {
			return dst, 0, err
		}
	}
	if i == 0 {
		return dst, 0, errReview
	}
	return dst, i, nil
}

// conversion is what the objects that are converted to one version have in
// common.
type conversion struct {
	raw            []byte // desired as a JSON string
	desired        string
	group, version string
	object         Object // reused, with the memory of its fields
	// The route of the object before, which is nearly always the next one's.
	// kind and from are raw.
	kind, from []byte
	route      []hop
}

func newConversion(desired string) *conversion {
	c := &conversion{}
	c.begin(desired)
	return c
}

// begin makes it a conversion to another version.
func (c *conversion) begin(desired string) {
	c.desired, c.route = desired, nil
	c.group, c.version = splitVersion(desired)
}

// hop is a step with the apiVersion that it leads to, as JSON.
type hop struct {
	fn         Func
	apiVersion []byte
}

// appendConverted converts the object at a position and returns where it ends.
func (c *conversion) appendConverted(dst, text []byte, at int) ([]byte, int, error) {
	if _, object := rawjson.Enter(text, at); !object {
		return dst, at, errors.New("an element of objects is not an object")
	}
	o := &c.object
	o.reset()
	end := o.root.fill(&o.top, &o.members, text, at)
	if end == 0 {
		return dst, at, errReview
	}
	if err := c.convert(o); err != nil {
		return dst, at, errors.New(describe(o) + ": " + err.Error())
	}
	return o.root.append(dst), end, nil
}

func (c *conversion) convert(o *Object) error {
	from, kind := o.At("apiVersion").Raw(), o.At("kind").Raw()
	if c.route == nil || !bytes.Equal(from, c.from) || !bytes.Equal(kind, c.kind) {
		if o.APIVersion() == c.desired {
			return nil
		}
		if err := c.findRoute(o); err != nil {
			return err
		}
		c.from, c.kind = append(c.from[:0], from...), append(c.kind[:0], kind...)
	}
	for _, h := range c.route {
		if err := h.fn(o); err != nil {
			return err
		}
		if err := o.At("apiVersion").SetRaw(h.apiVersion); err != nil {
			return err
		}
	}
	return nil
}

func (c *conversion) findRoute(o *Object) error {
	c.route = nil
	group, version := splitVersion(o.APIVersion())
	if group != c.group {
		return errors.New("cannot convert from group " + group + " to group " + c.group)
	}
	for _, s := range kindFor(o.Kind()).route(version, c.version) {
		next := s.to
		if c.group != "" {
			next = c.group + "/" + s.to
		}
		c.route = append(c.route, hop{s.fn, rawjson.AppendString(nil, next)})
	}
	if c.route == nil {
		return errors.New("this module has no conversion from " + version + " to " + c.version)
	}
	return nil
}

func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}

// describe names an object in a message: CronTab default/my-crontab.
func describe(o *Object) string {
	name := o.Name()
	if ns := o.Namespace(); ns != "" {
		name = ns + "/" + name
	}
	return o.Kind() + " " + name
}
