package cli

import "github.com/wasmgate/wasmgate/gateway/options"

func proxyFlags(o *options.Proxy) flagGroup {
	f := newGroup("Servers behind and before this one")
	f.StringVar(&o.ClientCertFile, "proxy-client-cert-file", "", "PEM `file` with the client certificate shown to extension servers; without it the gateway's own authority for this issues one")
	f.StringVar(&o.ClientKeyFile, "proxy-client-key-file", "", "PEM `file` with the private key of --proxy-client-cert-file")
	f.BoolVar(&o.ByEndpoints, "enable-aggregator-routing", false, "send requests for extension servers to endpoints of their services, not to the services' addresses")
	f.StringVar(&o.HeaderCAFile, "requestheader-client-ca-file", "", "PEM `file` with the authorities of those whose headers say who asks; without it no headers do")
	f.StringSliceVar(&o.AllowedNames, "requestheader-allowed-names", nil, "common `names` of the certificates whose headers count, comma-separated; empty is any that those authorities signed")
	f.StringSliceVar(&o.UsernameHeaders, "requestheader-username-headers", o.UsernameHeaders, "`headers` that say who asks, the first that is there counts")
	f.StringSliceVar(&o.UIDHeaders, "requestheader-uid-headers", o.UIDHeaders, "`headers` that say the user's uid")
	f.StringSliceVar(&o.GroupHeaders, "requestheader-group-headers", o.GroupHeaders, "`headers` that say the user's groups")
	f.StringSliceVar(&o.ExtraHeaderPrefixes, "requestheader-extra-headers-prefix", o.ExtraHeaderPrefixes, "`prefixes` of headers that say more of the user")
	return f
}
