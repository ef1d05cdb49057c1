package sdk

import "strings"

// warm answers a made-up review. The gateway asks for memory before the first
// call, and begins every call with what a module was then: what Go makes when it
// is first needed, room for small things of each size above all, is made once
// that way, and not in every call.
func (h *handler) warm() {
	const madeUp = "\x00\x00\x00\x00"
	k := For(madeUp)
	k.Convert("v1", "v2", func(o *Object) error {
		s, _ := o.At("spec", "a").String()
		o.At("spec", "a").Delete()
		return o.At("spec", "b").SetString(s + "b")
	})
	item := `{"name":"a","value":"b","c":true,"d":{"e":[1,2,3]}}`
	object := `{"apiVersion":"a-group-with-a-long-name.example.com/v1","kind":"\u0000\u0000\u0000\u0000","metadata":{"name":"a","namespace":"b","labels":{"c":"d"}},"spec":{"a":"b","items":[` +
		strings.Repeat(item+",", 30) + item + `]}}`
	review := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"a-group-with-a-long-name.example.com/v2","objects":[` +
		object + "," + object + `]}}`
	_ = h.appendReply(nil, []byte(review))
	delete(kinds, madeUp)
	h.conversions = h.conversions[:0]
}
