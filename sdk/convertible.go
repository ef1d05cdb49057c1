package sdk

import "encoding/json"

// Convertible is a Go type of one version of a kind that controller-runtime converts: its
// conversion.Convertible, where Hub is its conversion.Hub. The SDK does not need
// controller-runtime: the module's own does.
type Convertible[Hub any] interface {
	// ConvertTo fills in an empty object of the hub's version.
	ConvertTo(dst Hub) error
	// ConvertFrom fills in this object, which is empty.
	ConvertFrom(src Hub) error
}

// Hub is the version of a kind that all other versions are converted to and from; see [HubOf].
type Hub[H any] struct {
	kind    *Kind
	version string
	empty   func() H
}

// HubOf names the hub of a kind. empty makes an object of its Go type, a pointer:
//
//	func init() {
//		hub := sdk.HubOf("CronTab", "v2", func() conversion.Hub { return &v2.CronTab{} })
//		hub.Spoke("v1", func() sdk.Convertible[conversion.Hub] { return &v1.CronTab{} })
//	}
//
// Call it from init.
func HubOf[H any](kind, version string, empty func() H) Hub[H] {
	return Hub[H]{For(kind), version, empty}
}

// Spoke registers both directions between a version and the hub, as controller-runtime's
// conversion webhook has them: objects are decoded and encoded whole with encoding/json, and
// what the Go types do not have is dropped. Of metadata, labels and annotations are what the
// conversion leaves of them; the rest stays as it is. Between two spokes the way leads over
// the hub.
//
// In two things encoding/json is not what controller-runtime decodes with: a key that differs
// from a field's in case is taken for it, and whole numbers in an any are float64 and lose
// digits above 2^53. Where that matters, give the type an UnmarshalJSON, or the field the
// type json.RawMessage or runtime.RawExtension.
func (h Hub[H]) Spoke(version string, empty func() Convertible[H]) {
	h.kind.Convert(version, h.version, func(o *Object) error {
		from, to := empty(), h.empty()
		return o.through(from, to, func() error { return from.ConvertTo(to) })
	})
	h.kind.Convert(h.version, version, func(o *Object) error {
		from, to := h.empty(), empty()
		return o.through(from, to, func() error { return to.ConvertFrom(from) })
	})
}

// through decodes an object, and makes it what a conversion made of that.
func (o *Object) through(from, to any, convert func() error) error {
	if err := json.Unmarshal(o.JSON(), from); err != nil {
		return err
	}
	if err := convert(); err != nil {
		return err
	}
	encoded, err := json.Marshal(to)
	if err != nil {
		return err
	}
	return o.become(encoded, true) // an ObjectMeta without labels encodes none
}
