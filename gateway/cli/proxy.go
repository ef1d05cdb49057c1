package cli

import "github.com/wasmgate/wasmgate/gateway/options"

func proxyFlags(o *options.Proxy) flagGroup {
	f := newGroup("Extension servers, and proxies in front")
	f.StringVar(&o.ClientCertFile, "proxy-client-cert-file", "", "PEM `file` with the client certificate for extension servers (default a certificate issued by the gateway's own authority)")
	f.StringVar(&o.ClientKeyFile, "proxy-client-key-file", "", "PEM `file` with the private key of --proxy-client-cert-file")
	f.BoolVar(&o.ByEndpoints, "enable-aggregator-routing", false, "send requests for an extension server to the endpoints of its service, not to the cluster IP of the service")
	f.StringVar(&o.HeaderCAFile, "requestheader-client-ca-file", "", "PEM `file` with the authorities of proxies that name the user in request headers; without it such headers are ignored")
	f.StringSliceVar(&o.AllowedNames, "requestheader-allowed-names", nil, "common `names` in the client certificates of such proxies, comma-separated (default any name, if those authorities signed the certificate)")
	f.StringSliceVar(&o.UsernameHeaders, "requestheader-username-headers", o.UsernameHeaders, "`headers` with the user name, comma-separated; the first one that a request has counts")
	f.StringSliceVar(&o.UIDHeaders, "requestheader-uid-headers", o.UIDHeaders, "`headers` with the user's uid")
	f.StringSliceVar(&o.GroupHeaders, "requestheader-group-headers", o.GroupHeaders, "`headers` with the user's groups")
	f.StringSliceVar(&o.ExtraHeaderPrefixes, "requestheader-extra-headers-prefix", o.ExtraHeaderPrefixes, "`prefixes` of headers with extra attributes of the user")
	return f
}
