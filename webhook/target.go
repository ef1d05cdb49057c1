package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"
)

// ServiceResolver finds where a service is. It is the interface that
// kube-apiserver's own resolvers have.
type ServiceResolver interface {
	// ResolveEndpoint returns a URL whose host is dialed; the name that the
	// server's certificate has to carry does not depend on it.
	ResolveEndpoint(namespace, name string, port int32) (*url.URL, error)
}

// DNS resolves a service to its cluster DNS name, kube-apiserver's default.
type DNS struct{}

// ResolveEndpoint returns https://name.namespace.svc:port.
func (DNS) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if name == "" || namespace == "" || port == 0 {
		return nil, errors.New("cannot resolve an empty service name or namespace or port")
	}
	return &url.URL{Scheme: "https", Host: serviceHost(namespace, name, port)}, nil
}

func serviceHost(namespace, name string, port int32) string {
	return net.JoinHostPort(name+"."+namespace+".svc", strconv.Itoa(int(port)))
}

// Service is a reference to a service.
type Service struct {
	Namespace, Name string
	// Path of the URL; "" means "/".
	Path string
	// Port is 443 when it is 0.
	Port int32
}

// ServiceOf is the service that a configuration refers to; a path or port that
// is nil is the default.
func ServiceOf(namespace, name string, path *string, port *int32) *Service {
	s := &Service{Namespace: namespace, Name: name}
	if path != nil {
		s.Path = *path
	}
	if port != nil {
		s.Port = *port
	}
	return s
}

// target is where requests go.
type target struct {
	url     *url.URL
	service *Service
}

func locate(c Config) (target, error) {
	if c.Service != nil {
		s := *c.Service
		if s.Port == 0 {
			s.Port = 443
		}
		return target{address(serviceHost(s.Namespace, s.Name, s.Port), s.Path), &s}, nil
	}
	if c.URL == "" {
		return target{}, errors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return target{}, fmt.Errorf("url must be a valid URL: %w", err)
	}
	switch {
	case u.Scheme != "https":
		return target{}, fmt.Errorf("url %q: 'https' is the only allowed URL scheme; desired format: https://host[/path]", c.URL)
	case u.Host == "":
		return target{}, fmt.Errorf("url %q: host must be specified; desired format: https://host[/path]", c.URL)
	case u.User != nil:
		return target{}, errors.New("url: user information is not permitted in the URL")
	case u.Fragment != "":
		return target{}, fmt.Errorf("url %q: fragments are not permitted in the URL", c.URL)
	case u.RawQuery != "":
		return target{}, fmt.Errorf("url %q: query parameters are not permitted in the URL", c.URL)
	}
	return target{url: address(u.Host, u.Path)}, nil
}

// address is where a server is asked. The path is cleaned once, after it was
// decoded, as kube-apiserver does: servers redirect one with a double slash, and
// no redirect is followed.
func address(host, decoded string) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: path.Join("/", decoded)}
}

// newTransport trusts the bundle, or the system's roots without one, and
// speaks HTTP/1.1, which spreads calls over the backends of a service.
func newTransport(t target, caBundle []byte, services ServiceResolver) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if len(bytes.TrimSpace(caBundle)) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(caBundle) {
			return nil, errors.New("unable to load root certificates: caBundle holds no PEM certificate")
		}
	}
	var dialer net.Dialer
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
	}
	if s := t.service; s != nil {
		config.ServerName = s.Name + "." + s.Namespace + ".svc"
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == t.url.Host {
				u, err := services.ResolveEndpoint(s.Namespace, s.Name, s.Port)
				if err != nil {
					return nil, err
				}
				addr = u.Host
			}
			return dialer.DialContext(ctx, network, addr)
		}
	}
	return transport, nil
}
