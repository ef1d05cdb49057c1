package wasm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The texts of policies, each with a zero at its end.
const (
	opaFunctions   = `{"sprintf":3}`
	opaEntrypoints = `{"a/deny":0}`
	opaDenied      = `[{"result":["no"]}]`
	opaOperand     = `"x"`
)

// at is where a text of theirs is.
func opaAt(text string) int32 {
	return DataAt + int32(strings.Index(opaTexts, text+"\x00"))
}

const opaTexts = opaFunctions + "\x00" + opaEntrypoints + "\x00" + opaDenied + "\x00" + opaOperand + "\x00"

// when returns a text where the parameter is a number.
func when(value, at int32) []byte {
	return Join([]byte{0x20, 0}, ConstI32(value), []byte{0x46, 0x04, 0x40}, ConstI32(at), []byte{0x0f, 0x0b})
}

// opaGuest is what OPA makes, but for what it evaluates: that is code, which leaves the
// address of a result.
func opaGuest(code ...[]byte) Guest {
	result := []byte{I32}
	g := Guest{
		Pages: 2,
		Data:  []byte(opaTexts),
		Imports: []Import{
			{Module: importOPA, Name: "opa_abort", Params: []byte{I32}},
			{Module: importOPA, Name: "opa_builtin2", Params: []byte{I32, I32, I32, I32}, Results: result},
		},
		Funcs: map[string]Func{
			opaMalloc:  {Params: []byte{I32}, Results: result, Code: ConstI32(70000)},
			opaParse:   {Params: []byte{I32, I32}, Results: result, Code: ConstI32(9)},
			opaDump:    {Params: []byte{I32}, Results: result, Code: Join(when(1, opaAt(opaFunctions)), when(2, opaAt(opaEntrypoints)), ConstI32(opaAt(opaOperand)))},
			opaHeapGet: {Results: result, Code: ConstI32(90000)},
			opaHeapSet: {Params: []byte{I32}},
			opaCalls:   {Results: result, Code: ConstI32(1)},
			opaEntries: {Results: result, Code: ConstI32(2)},
			opaEval:    {Params: []byte{I32, I32, I32, I32, I32, I32, I32}, Results: result, Code: Join(code...)},
		},
	}
	return g
}

// opaBytes assembles a guest with its version.
func opaBytes(t *testing.T, g Guest, major, minor int32) []byte {
	t.Helper()
	m, err := binary.Decode(g.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	global := func(value int32) []byte { return Join([]byte{I32, 0}, ConstI32(value), []byte{0x0b}) }
	g.Raw = map[byte][]byte{
		6: List(global(major), global(minor)),
		7: Join(Number(len(m.Exports)+2), m.Content(binary.ExportSection)[1:], Counted([]byte(opaMajor)), []byte{3, 0}, Counted([]byte(opaMinor)), []byte{3, 1}),
	}
	return g.Bytes()
}

// callOPA calls the function of the host with some number.
func callOPA(id int32) []byte {
	return Join(ConstI32(id), ConstI32(0), ConstI32(7), ConstI32(7), Call(1))
}

func TestAPolicyOfOPA(t *testing.T) {
	m := load(t, opaBytes(t, opaGuest(callOPA(3), []byte{0x1a}, ConstI32(opaAt(opaDenied))), 1, 2), plugins.Limits{})
	if m.Dialect() != plugins.OPA || len(m.Hooks()) != 1 || m.Hooks()[0] != plugins.Admit {
		t.Errorf("it is of %q and has %v", m.Dialect(), m.Hooks())
	}
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	for range 2 {
		reply, err := i.Call(t.Context(), plugins.Admit, []byte(policyReview))
		if err != nil || !strings.Contains(string(reply), `"uid":"7","allowed":false,"status":{"message":"no"`) {
			t.Errorf("%s, %v", reply, err)
		}
	}
	if i.Spent() {
		t.Error("it is put back by nothing")
	}
}

// What a policy does wrong is told, and ends its instance and nothing else.
func TestPoliciesOfOPAThatDoNotKeepToTheirABI(t *testing.T) {
	denied := ConstI32(opaAt(opaDenied))
	calling := opaGuest(callOPA(3), []byte{0x1a}, denied)
	for name, c := range map[string]struct {
		guest Guest
		kind  plugins.ErrorKind
		want  string
	}{
		"abort":          {opaGuest(ConstI32(opaAt(opaOperand)), Call(0), denied), plugins.BadReply, `it aborted: "x"`},
		"abort outside":  {opaGuest(ConstI32(-1), Call(0), denied), plugins.BadReply, "a text at 4294967295 does not end in the module's memory"},
		"trap":           {opaGuest(Trap), plugins.Trap, "unreachable"},
		"loop":           {opaGuest(Forever), plugins.OutOfFuel, "needs more than its limit"},
		"outside":        {opaGuest(ConstI32(-1)), plugins.BadReply, "a text at 4294967295 does not end"},
		"at the end":     {opaGuest(ConstI32(131072)), plugins.BadReply, "a text at 131072 does not end"},
		"empty":          {opaGuest(ConstI32(100000)), plugins.BadReply, "the result of a/deny cannot be read"},
		"long":           {opaGuest(ConstI32(opaAt(opaDenied))), plugins.BadReply, "a text is longer than the limit of 10 bytes"},
		"unknown":        {opaGuest(callOPA(4), []byte{0x1a}, denied), plugins.BadReply, "it calls the function 4 of its host, which it did not name"},
		"calls in calls": {calling.With(opaMalloc, Func{Params: []byte{I32}, Results: []byte{I32}, Code: Join(callOPA(3), []byte{0x1a}, ConstI32(70000))}), plugins.BadReply, "where nothing is evaluated"},
		"calls while it is answered": {calling.With(opaDump, Func{Params: []byte{I32}, Results: []byte{I32}, Code: Join(when(1, opaAt(opaFunctions)), when(2, opaAt(opaEntrypoints)),
			[]byte{0x20, 0}, ConstI32(7), []byte{0x46, 0x04, 0x40}, callOPA(3), []byte{0x1a, 0x0b}, ConstI32(opaAt(opaOperand)))}), plugins.BadReply, "where nothing is evaluated"},
		"no room": {opaGuest(denied).With(opaHeapSet, Func{Params: []byte{I32}, Code: Trap}), plugins.Trap, "unreachable"},
	} {
		limits := plugins.Limits{Fuel: 10_000_000}
		if name == "long" {
			limits.ResponseBytes = 10
		}
		i, err := load(t, opaBytes(t, c.guest, 1, 2), limits).Instantiate(t.Context())
		if err == nil {
			_, err = i.Call(t.Context(), plugins.Admit, []byte(policyReview))
			_ = i.Close()
		}
		var call *plugins.CallError
		if !errors.As(err, &call) || call.Kind != c.kind || !strings.Contains(call.Reason, c.want) {
			t.Errorf("%s: %v; want %s: %s", name, err, c.kind, c.want)
		}
	}
}

// What a policy answers is bounded together, and by what whoever asks reads of a reply.
func TestResultsOfOPAAreBoundedTogether(t *testing.T) {
	two := opaGuest(ConstI32(opaAt(opaDenied))).With(opaDump, Func{Params: []byte{I32}, Results: []byte{I32},
		Code: Join(when(1, opaAt(opaFunctions)), ConstI32(DataAt+int32(len(opaTexts))))})
	two.Data = append(two.Data, `{"deny":0,"warn":1}`+"\x00"...)
	long := Join(ConstI32(131072), ConstI32('x'), ConstI32(plugins.MaxPolicyBytes+1), []byte{0xfc, 11, 0}, ConstI32(131072))
	large := opaGuest(long)
	large.Pages = 300
	for name, c := range map[string]struct {
		guest Guest
		most  int64
		want  string
	}{
		"as much": {two, 2 * int64(len(opaDenied)), ""},
		"more":    {two, 2*int64(len(opaDenied)) - 1, "its results are longer than the limit of 37 bytes together"},
		"large":   {large, 32 << 20, "a text is longer than the limit of 16777216 bytes"},
	} {
		i := start(t, opaBytes(t, c.guest, 1, 2), plugins.Limits{ResponseBytes: c.most})
		_, err := i.Call(t.Context(), plugins.Admit, []byte(policyReview))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	answer := waPCPolicy(respond(0, plugins.MaxPolicyBytes+1))
	answer.Pages = 300
	if _, err := start(t, answer.Bytes(), plugins.Limits{}).Call(t.Context(), plugins.Admit, []byte(policyReview)); err == nil || !strings.Contains(err.Error(), "the reply has 16777217 bytes, more than the limit of 16777216") {
		t.Errorf("of Kubewarden: %v", err)
	}
}

// What a policy says of itself before it serves decides whether it does.
func TestPoliciesOfOPAThatAreRefused(t *testing.T) {
	good := opaGuest(ConstI32(opaAt(opaDenied)))
	said := func(old, text string) Guest {
		g := good
		g.Data = bytes.Replace(g.Data, []byte(old), []byte(text), 1)
		return g
	}
	for name, c := range map[string]struct {
		guest        Guest
		major, minor int32
		config       string
		want         plugins.LoadReason
		why          string
	}{
		"no malloc":   {good.Without(opaMalloc), 1, 2, "", plugins.MissingExport, `it does not export the function "opa_malloc"`},
		"other type":  {good.With(opaDump, Func{}), 1, 2, "", plugins.WrongSignature, `its export "opa_json_dump" is () -> ()`},
		"old":         {good, 1, 1, "", plugins.StartFailed, "it is of version 1.1 of OPA's ABI"},
		"new":         {good, 2, 0, "", plugins.StartFailed, "it is of version 2.0 of OPA's ABI"},
		"functions":   {said("sprintf", "netsend"), 1, 2, "", plugins.ForeignImport, "it calls netsend, which the gateway does not offer"},
		"entrypoints": {said("a/deny", "a/done"), 1, 2, "", plugins.MissingExport, "none of its entrypoints is understood (a/done)"},
		"unreadable":  {said(`{"a/deny`, `["a/deny`), 1, 2, "", plugins.MissingExport, "cannot be read"},
		"data":        {good, 1, 2, "[]", plugins.ConfigRefused, "has to be an object"},
		"parses":      {good.With(opaParse, Func{Params: []byte{I32, I32}, Results: []byte{I32}, Code: ConstI32(0)}), 1, 2, "", plugins.StartFailed, "opa_json_parse reads no value"},
		"allocates":   {good.With(opaMalloc, Func{Params: []byte{I32}, Results: []byte{I32}, Code: ConstI32(-1)}), 1, 2, "", plugins.StartFailed, "opa_malloc(2) returned 4294967295, which is outside"},
		"calls early": {good.With(opaCalls, Func{Results: []byte{I32}, Code: callOPA(3)}), 1, 2, "", plugins.StartFailed, "where nothing is evaluated"},
		"loops":       {good.With(opaCalls, Func{Results: []byte{I32}, Code: Forever}), 1, 2, "", plugins.StartFailed, "needs more than its limit"},
	} {
		m, err := engine(t).Load(t.Context(), Source{Name: "m", Bytes: opaBytes(t, c.guest, c.major, c.minor), Config: []byte(c.config), Limits: plugins.Limits{Fuel: 10_000_000}})
		if err == nil {
			var i *Instance
			if i, err = m.Instantiate(t.Context()); err == nil {
				_ = i.Close()
			}
			_ = m.Close(context.Background())
		}
		var refused *plugins.LoadError
		if !errors.As(err, &refused) || refused.Reason != c.want || !strings.Contains(refused.Detail, c.why) || refused.Module != "m" {
			t.Errorf("%s: %v; want %s: %s", name, err, c.want, c.why)
		}
	}
}

// The memory that a policy imports becomes its own, at the same size.
func TestImportedMemoryBecomesTheGuests(t *testing.T) {
	abort := Join(Counted([]byte(importOPA)), Counted([]byte("opa_abort")), []byte{0, 0})
	memory := Join(Counted([]byte(importOPA)), Counted([]byte("memory")), []byte{2, 1, 3, 9})
	table := Join(Counted([]byte(importOPA)), Counted([]byte("table")), []byte{1, 0x70, 0, 1})
	sections := map[byte][]byte{1: List([]byte{0x60, 1, I32, 0}), 2: List(memory, abort), 7: List(Join(Counted([]byte("memory")), []byte{2, 0}))}
	m, err := binary.Decode(Sections(sections))
	if err != nil {
		t.Fatal(err)
	}
	owning, err := ownMemory(m)
	if err != nil {
		t.Fatal(err)
	}
	m, err = binary.Decode(owning)
	if err != nil || m.Imported(binary.Memory) != 0 || len(m.Imports) != 1 || m.Imports[0].Name != "opa_abort" || m.Memories[0] != (binary.Limits{Min: 3, Max: 9, HasMax: true}) {
		t.Errorf("%+v, %v", m, err)
	}
	sections[2] = List(memory, abort, table)
	if m, err = binary.Decode(Sections(sections)); err != nil {
		t.Fatal(err)
	}
	if _, err := ownMemory(m); err == nil || !strings.Contains(err.Error(), `it imports "table" from "env", which is no function`) {
		t.Errorf("with a table: %v", err)
	}
}
