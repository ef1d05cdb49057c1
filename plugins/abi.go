package plugins

// ABI 1, by export name; the hooks are exports too. Authors read docs/abi.md.
const (
	// ABIVersion is the version that is spoken here.
	ABIVersion = 1
	// ExportABI marks a module of ABI 1; it is never called.
	ExportABI = "wasmgate_abi_v1"
	// ExportAlloc (size i32) -> i32 gives room for a request.
	ExportAlloc = "wasmgate_alloc"
	// ExportConfigure (ptr i32, len i32) -> i64 is optional and gets the
	// module's configuration once in each instance. An empty reply accepts it;
	// {"error": "..."} refuses it.
	ExportConfigure = "wasmgate_configure"
	// ExportDescribe () -> i64 is optional and returns a JSON object about the
	// module, a [Description].
	ExportDescribe = "wasmgate_describe"
	// ExportGuestCall marks a guest of waPC, and ExportOPA a policy of OPA: neither has
	// hooks by their names, and both have [Admit].
	ExportGuestCall = "__guest_call"
	ExportOPA       = "opa_wasm_abi_version"
	// ExportMemory is the linear memory.
	ExportMemory = "memory"

	// ImportModule is the name of the gateway's own imports.
	ImportModule = "wasmgate"
	// ImportLog (ptr i32, len i32) logs a line of UTF-8.
	ImportLog = "log"
	// ImportLookup (ptr i32, len i32) -> i64 looks up the object that the text
	// GROUP/RESOURCE/NAMESPACE/NAME names, in calls of [Admit]. In the high 32
	// bits is 0 for an object, 1 for none and 2 for a refusal; in the low ones
	// is the size of what ImportResult gives: the object as JSON, nothing, or the
	// reason.
	ImportLookup = "lookup"
	// ImportResult (ptr i32) copies what the last lookup told, to where there is
	// room for it.
	ImportResult = "result"
	// ImportWASI is the only other import module.
	ImportWASI = "wasi_snapshot_preview1"
)

// Hooks are all hooks of ABI 1.
func Hooks() []Hook { return []Hook{Convert, Admit, Prioritize} }

// Dialect is whose ABI a module has.
type Dialect string

// The dialects.
const (
	// Own is the gateway's own ABI.
	Own Dialect = ""
	// Kubewarden is that of Kubewarden's policies: waPC, with its operations.
	Kubewarden Dialect = "Kubewarden"
	// OPA is that of policies that OPA compiled.
	OPA Dialect = "OPA"
)

// Before is what stands before "ABI" in messages.
func (d Dialect) Before() string {
	if d == Own {
		return ""
	}
	return string(d) + " "
}
