package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"
)

const (
	// dialTime is how long finding out why an endpoint does not answer may take.
	dialTime = 10 * time.Second
	// refusalTime is how long a server that took a client's certificate has to
	// refuse it all the same, as TLS 1.3 lets it.
	refusalTime = 3 * time.Second
)

// unanswered is why the first endpoint that cannot be reached does not answer,
// which the client library keeps to itself; nil when nothing is wrong with any.
func unanswered(endpoints []string, conf *tls.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	for _, endpoint := range endpoints {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" {
			continue
		}
		if err := dial(ctx, u, conf); err != nil {
			return fmt.Errorf("%s: %w", endpoint, err)
		}
	}
	return nil
}

// dial connects once as the client does.
func dial(ctx context.Context, u *url.URL, conf *tls.Config) error {
	if u.Scheme != "https" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return err
		}
		_ = conn.Close() // nothing was said
		if encrypted(ctx, u.Host) {
			return errors.New("it speaks TLS: its URL begins with https://")
		}
		return nil
	}
	if conf == nil {
		conf = &tls.Config{}
	}
	conf = conf.Clone()
	conf.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", u.Host)
	if record := (tls.RecordHeaderError{}); errors.As(err, &record) {
		return fmt.Errorf("it speaks no TLS: its URL begins with http:// (%w)", err)
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(refusalTime)) // else the dial's own time ends it
	if _, err = conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// encrypted reports whether host speaks TLS, whoever it is.
func encrypted(ctx context.Context, host string) bool {
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", host) // nothing is told to it
	if err == nil {
		_ = conn.Close()
		return true
	}
	var alert tls.AlertError
	return errors.As(err, &alert)
}
