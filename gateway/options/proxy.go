package options

// Proxy is how requests are passed on to servers behind this one, and which are believed
// that a server before this one passes on.
type Proxy struct {
	// ClientCertFile and ClientKeyFile are what the gateway proves to servers behind it
	// who it is by; empty means its own.
	ClientCertFile, ClientKeyFile string
	// ByEndpoints has requests go to endpoints of services instead of their addresses.
	ByEndpoints bool

	// HeaderCAFile are the authorities of those whose headers say who asks; empty
	// means that nobody's do. AllowedNames are their names; empty means any.
	HeaderCAFile string
	AllowedNames []string
	// UsernameHeaders and the others are these headers: the first that is there counts.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

func (p Proxy) validate(bad func(flag, format string, args ...any)) {
	if (p.ClientCertFile == "") != (p.ClientKeyFile == "") {
		bad("proxy-client-cert-file", "goes with --proxy-client-key-file: set both or none")
	}
	if p.HeaderCAFile != "" && len(p.UsernameHeaders) == 0 {
		bad("requestheader-username-headers", "must name a header where --requestheader-client-ca-file is set")
	}
	if p.HeaderCAFile == "" && len(p.AllowedNames) > 0 {
		bad("requestheader-allowed-names", "needs --requestheader-client-ca-file")
	}
}
