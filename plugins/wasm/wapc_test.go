package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// The indices of what policies import.
const (
	waPCRequest = iota
	waPCResponse
	waPCError
	waPCHostCall
	waPCHostError
	waPCHostErrorLen
	waPCLog
)

// The data of policies: what they answer to everything, and how long that is.
const policyAnswer = `{"valid":true,"accepted":true}`

// waPCPolicy is a policy that does something when it is asked to validate, which is
// the shortest of its operations, and else accepts its settings. When code is at its
// end, 1 is returned.
func waPCPolicy(code ...[]byte) Guest {
	body := Join(
		// if the operation has 8 bytes
		Join([]byte{0x20, 0}, ConstI32(8), []byte{0x46, 0x04, 0x40}), Join(code...), []byte{0x0b},
		// if it has 16: protocol_version has 16 and validate_settings 17
		Join([]byte{0x20, 0}, ConstI32(16), []byte{0x46, 0x04, 0x40}), respond(DataAt+len(policyAnswer), 4), []byte{0x0b},
		Join([]byte{0x20, 0}, ConstI32(17), []byte{0x46, 0x04, 0x40}), respond(DataAt, len(policyAnswer)), []byte{0x0b},
		ConstI32(1),
	)
	return Guest{
		Pages: 2,
		Data:  []byte(policyAnswer + `"v1"` + "kubewarden" + "kubernetes" + "get_resource" + policyPayload),
		Imports: []Import{
			{Module: importWaPC, Name: "__guest_request", Params: []byte{I32, I32}},
			{Module: importWaPC, Name: "__guest_response", Params: []byte{I32, I32}},
			{Module: importWaPC, Name: "__guest_error", Params: []byte{I32, I32}},
			{Module: importWaPC, Name: "__host_call", Params: []byte{I32, I32, I32, I32, I32, I32, I32, I32}, Results: []byte{I32}},
			{Module: importWaPC, Name: "__host_error", Params: []byte{I32}},
			{Module: importWaPC, Name: "__host_error_len", Results: []byte{I32}},
			{Module: importWaPC, Name: "__console_log", Params: []byte{I32, I32}},
		},
		Funcs: map[string]Func{exportGuest: {Params: []byte{I32, I32}, Results: []byte{I32}, Code: body}},
	}
}

const policyPayload = `{"api_version":"v1","kind":"Pod","name":"a","namespace":"b"}`

func respond(at, size int) []byte {
	return Join(ConstI32(int32(at)), ConstI32(int32(size)), Call(waPCResponse))
}

// fail returns 0 with an error.
func fail(at, size int32) []byte {
	return Join(ConstI32(at), ConstI32(size), Call(waPCError), ConstI32(0), []byte{0x0f})
}

const policyReview = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7","object":{"kind":"A"}}}`

// hostCallOf calls the host by the parts of the data.
func hostCallOf(payload int32) []byte {
	at, code := int32(DataAt+len(policyAnswer)+4), []byte{}
	for _, size := range []int32{10, 10, 12} {
		code = Join(code, ConstI32(at), ConstI32(size))
		at += size
	}
	return Join(code, ConstI32(at), ConstI32(payload), Call(waPCHostCall))
}

func TestAPolicyOfKubewarden(t *testing.T) {
	m := load(t, waPCPolicy(respond(DataAt, len(policyAnswer))).Bytes(), plugins.Limits{})
	if m.Dialect() != plugins.Kubewarden || len(m.Hooks()) != 1 || m.Hooks()[0] != plugins.Admit {
		t.Errorf("it is of %q and has %v", m.Dialect(), m.Hooks())
	}
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	if err := i.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	for range 2 {
		reply, err := i.Call(t.Context(), plugins.Admit, []byte(policyReview))
		if want := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"7","allowed":true}}`; err != nil || string(reply) != want {
			t.Errorf("%s, %v", reply, err)
		}
	}
	if i.Spent() {
		t.Error("it is put back by nothing")
	}
	if _, err := i.Call(t.Context(), plugins.Convert, nil); err == nil {
		t.Error("a policy converts")
	}
}

// What a policy does wrong is told, and ends its instance and nothing else.
func TestPoliciesThatDoNotKeepToTheirABI(t *testing.T) {
	for name, c := range map[string]struct {
		code []byte
		kind plugins.ErrorKind
		want string
	}{
		"no answer":         {nil, plugins.BadReply, "its answer cannot be read"},
		"answer outside":    {respond(-8, 100), plugins.BadReply, "the reply (100 bytes at 4294967288) is outside of the module's memory of 131072 bytes"},
		"answer is long":    {respond(0, 70000), plugins.BadReply, "the reply has 70000 bytes, more than the limit of 65536"},
		"other answer":      {respond(DataAt+len(policyAnswer), 4), plugins.BadReply, "its answer cannot be read"},
		"request outside":   {Join(ConstI32(-1), ConstI32(0), Call(waPCRequest)), plugins.BadReply, "there is no room for the operation (8 bytes at 4294967295)"},
		"error":             {fail(DataAt, 8), plugins.BadReply, `the policy failed at "validate": {"valid"`},
		"error is long":     {fail(0, maxError+1), plugins.BadReply, "the error has 65537 bytes, more than the limit of 65536"},
		"no error":          {[]byte{0x41, 0, 0x0f}, plugins.BadReply, `the policy failed at "validate": it does not say why`},
		"trap":              {Trap, plugins.Trap, "unreachable"},
		"loop":              {Forever, plugins.OutOfFuel, "needs more than its limit"},
		"payload is long":   {Join(hostCallOf(70000), []byte{0x1a}), plugins.BadReply, "the payload has 70000 bytes, more than the limit of 65536"},
		"payload outside":   {Join(ConstI32(0), ConstI32(0), ConstI32(0), ConstI32(0), ConstI32(0), ConstI32(0), ConstI32(-4), ConstI32(9), Call(waPCHostCall), []byte{0x1a}), plugins.BadReply, "the payload (9 bytes at 4294967292) is outside"},
		"writes in circles": {[]byte{0x03, 0x40, 0x41, 0, 0x41, 0xe4, 0, 0x10, waPCRequest, 0x0c, 0, 0x0b}, plugins.OutOfFuel, "needs more than its limit"},
		"refusal outside":   {Join(hostCallOf(int32(len(policyPayload))), []byte{0x1a}, ConstI32(-1), Call(waPCHostError)), plugins.BadReply, "there is no room for the refusal"},
	} {
		i := start(t, waPCPolicy(c.code).Bytes(), plugins.Limits{ResponseBytes: 64 << 10, Fuel: 10_000_000})
		_, err := i.Call(t.Context(), plugins.Admit, []byte(policyReview))
		var call *plugins.CallError
		if !errors.As(err, &call) || call.Kind != c.kind || !strings.Contains(call.Reason, c.want) {
			t.Errorf("%s: %v; want %s: %s", name, err, c.kind, c.want)
		}
	}
	i := start(t, waPCPolicy(respond(DataAt, len(policyAnswer))).Bytes(), plugins.Limits{})
	if _, err := i.Call(t.Context(), plugins.Admit, []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "the review has no request") {
		t.Errorf("no review: %v", err)
	}
}

// A policy sees what was granted, at the version that it asks for, and is told why not.
func TestPoliciesAskTheirHost(t *testing.T) {
	// The error of the host becomes the policy's own, at 70,000.
	ask := Join(hostCallOf(int32(len(policyPayload))), []byte{0x45, 0x04, 0x40}, ConstI32(70000), Call(waPCHostError),
		ConstI32(70000), Call(waPCHostErrorLen), Call(waPCError), []byte{0x41, 0, 0x0f, 0x0b}, respond(DataAt, len(policyAnswer)))
	for name, c := range map[string]struct {
		find plugins.Lookup
		want string
	}{
		"granted": {func(_ context.Context, o plugins.Object) ([]byte, error) {
			if o.String() != "/pods/b/a" {
				return nil, errors.New(o.String())
			}
			return []byte(`{"apiVersion":"v1"}`), nil
		}, ""},
		"refused":       {func(context.Context, plugins.Object) ([]byte, error) { return nil, errors.New("not granted") }, "not granted"},
		"none":          {func(context.Context, plugins.Object) ([]byte, error) { return nil, plugins.ErrNoObject }, "/pods/b/a: there is no such object"},
		"other version": {func(context.Context, plugins.Object) ([]byte, error) { return []byte(`{"apiVersion":"v2"}`), nil }, "is stored at v2, and was asked for at v1"},
		"no lookups":    {nil, "objects can be looked up by admission only"},
	} {
		i := start(t, waPCPolicy(ask).Bytes(), plugins.Limits{})
		_, err := i.CallSeeing(t.Context(), plugins.Admit, []byte(policyReview), 1, c.find)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// What a policy says of itself before it serves decides whether it does.
func TestPoliciesThatAreRefused(t *testing.T) {
	good := waPCPolicy(respond(DataAt, len(policyAnswer)))
	foreign := good
	foreign.Imports = append([]Import{}, good.Imports...)
	foreign.Imports[waPCLog] = Import{Module: plugins.ImportModule, Name: plugins.ImportLog, Params: []byte{I32, I32}}
	for name, c := range map[string]struct {
		guest Guest
		want  plugins.LoadReason
		why   string
	}{
		"other type":  {good.With(exportGuest, Func{Params: []byte{I32}}), plugins.WrongSignature, "has to be (i32, i32) -> (i32)"},
		"start":       {good.With(exportWaPC, Func{Params: []byte{I32}}), plugins.WrongSignature, `its export "wapc_init" is (i32) -> ()`},
		"imports":     {foreign, plugins.ForeignImport, `it imports "log" from "wasmgate"`},
		"start fails": {good.With(exportWaPC, Func{Code: Trap}), plugins.StartFailed, "unreachable"},
		"settings":    {func() Guest { g := good; g.Data = []byte(strings.Replace(string(g.Data), "true", "fals", 1)); return g }(), plugins.ConfigRefused, "its answer about its settings cannot be read"},
		"no settings": {good.With(exportGuest, Func{Params: []byte{I32, I32}, Results: []byte{I32}, Code: fail(DataAt, 8)}), plugins.ConfigRefused, `the policy failed at "validate_settings"`},
	} {
		m, err := engine(t).Load(t.Context(), Source{Name: "m", Bytes: c.guest.Bytes()})
		if err == nil {
			var i *Instance
			if i, err = m.Instantiate(t.Context()); err == nil {
				_ = i.Close()
			}
			_ = m.Close(context.Background())
		}
		var refused *plugins.LoadError
		if !errors.As(err, &refused) || refused.Reason != c.want || !strings.Contains(refused.Detail, c.why) {
			t.Errorf("%s: %v; want %s: %s", name, err, c.want, c.why)
		}
	}
	i := start(t, func() Guest { g := good; g.Data = []byte(strings.Replace(string(g.Data), `"v1"`, `"v2"`, 1)); return g }().Bytes(), plugins.Limits{})
	if err := i.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), `it speaks version "v2"`) {
		t.Errorf("another protocol: %v", err)
	}
}
