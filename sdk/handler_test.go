package sdk

import (
	"fmt"
	"strings"
	"testing"
)

func review(desired string, objects ...string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":%s,"objects":[%s]}}`, desired, strings.Join(objects, ","))
}

// A module keeps memory and routes from one request to the next; the replies
// are those of one that keeps nothing, also after failures, and with memory of
// requests that is overwritten.
func TestAHandlerThatAnsweredBeforeAnswersTheSame(t *testing.T) {
	const at = `{"apiVersion":"%s","kind":"%s","metadata":{"name":"n"},"via":"","o":{"x":{"y":1}}}`
	var requests [][]byte
	for _, desired := range []string{`"g/v2"`, `"g/v1"`, `"g/v1beta2"`, `"h/v1"`, `"v1"`, `""`, `5`} {
		for _, from := range []string{"g/v1alpha1", "g/v1beta1", "g/v1", "g/v2", "h/v1"} {
			for _, kind := range []string{"Chain", "Failing", "Typed"} {
				requests = append(requests, review(desired, fmt.Sprintf(at, from, kind), fmt.Sprintf(at, "g/v1", kind)))
			}
		}
	}
	requests = append(requests, review(`"g/v2"`, `{"apiVersion":"g/v1","kind":"Chain","via":""`), []byte(`{}`), review(`"g/v2"`), review(`"g/v2"`, `7`))
	var h handler
	text, reply := make([]byte, 4096), []byte(nil)
	for range 2 {
		for i := range requests {
			request := requests[(i*7)%len(requests)]
			in := text[:copy(text, request)]
			reply = h.appendReply(reply[:0], in)
			if want := HandleConversion(request); string(reply) != string(want) {
				t.Fatalf("%s\ngot  %s\nwant %s", request, reply, want)
			}
			clear(text)
		}
	}
}

// It does not keep everything for ever.
func TestWhatAHandlerKeepsIsBounded(t *testing.T) {
	var h handler
	for i := range 3 * maxConversions {
		h.appendReply(nil, review(fmt.Sprintf(`"g/v%d"`, i)))
		if n := len(h.conversions); n != i%maxConversions+1 {
			t.Fatalf("after %d versions it keeps %d", i+1, n)
		}
	}
	if first := h.conversions[0]; first.desired != fmt.Sprintf("g/v%d", 2*maxConversions) {
		t.Errorf("it kept %s", first.desired)
	}
	o := &Object{scratch: make([]byte, 9, maxScratch), members: make([]member, 9, maxMembers)}
	o.reset()
	if cap(o.scratch) != maxScratch || cap(o.members) != maxMembers || len(o.scratch)+len(o.members) != 0 {
		t.Errorf("memory is given up, or what was in it was kept: %d of %d, %d of %d", len(o.scratch), cap(o.scratch), len(o.members), cap(o.members))
	}
	o = &Object{scratch: make([]byte, 9, maxScratch+1), members: make([]member, 9, maxMembers+1)}
	o.reset()
	if cap(o.scratch) != 0 || cap(o.members) != 0 {
		t.Errorf("it keeps %d bytes and %d members", cap(o.scratch), cap(o.members))
	}
}

// Answering allocates nothing that grows with the number of requests.
func TestAnsweringNeedsLittleMemory(t *testing.T) {
	For("Frugal").Convert("v1", "v2", func(o *Object) error { return o.At("spec", "host").SetString("h") })
	request := review(`"g/v2"`, `{"apiVersion":"g/v1","kind":"Frugal","metadata":{"name":"n"},"spec":{"a":{"b":{"c":[1,2]}},"z":1}}`)
	var h handler
	reply := h.appendReply(nil, request)
	if n := testing.AllocsPerRun(100, func() { reply = h.appendReply(reply[:0], request) }); n > 0 {
		t.Errorf("%v allocations for one object", n)
	}
	if want := `"spec":{"a":{"b":{"c":[1,2]}},"host":"h","z":1}}`; !strings.Contains(string(reply), want) {
		t.Errorf("got %s", reply)
	}
}

// New fields go to their place in alphabetical order.
func TestNewFieldsAreInOrder(t *testing.T) {
	for _, c := range []struct{ text, field, want string }{
		{`{}`, "m", `{"m":0}`},
		{`{"a":1,"z":2}`, "m", `{"a":1,"m":0,"z":2}`},
		{`{"n":1,"z":2}`, "m", `{"m":0,"n":1,"z":2}`},
		{`{"a":1,"l":2}`, "m", `{"a":1,"l":2,"m":0}`},
		{`{"a":1,"m":3,"z":2}`, "m", `{"a":1,"m":0,"z":2}`},
		{`{"a":1,"ma":3}`, "m", `{"a":1,"m":0,"ma":3}`},
	} {
		o, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.At(c.field).SetInt(0); err != nil || string(o.JSON()) != c.want {
			t.Errorf("%s: got %s, %v", c.text, o.JSON(), err)
		}
	}
	// Many of them, past the room that there was for some.
	o, err := Parse([]byte(`{"x":{"k":1},"y":{"l":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split("hgfedcba", "") {
		if o.At("y", "l").Raw() == nil || o.At("x", name).SetInt(0) != nil {
			t.Fatal(name)
		}
	}
	if want := `{"x":{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"k":1},"y":{"l":2}}`; string(o.JSON()) != want {
		t.Errorf("got %s", o.JSON())
	}
}
