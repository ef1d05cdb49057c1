package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"oras.land/oras-go/v2/registry"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/bounds/files"
)

// Registries say how registries are reached: by which authorities and certificates, and at
// which mirrors first. The zero value, and nil, say nothing: each is asked itself. It is safe
// for concurrent use.
type Registries struct {
	now atomic.Pointer[registriesFile]
}

// registriesFile is what a file says.
type registriesFile struct {
	sum  [sha256.Size]byte // of it and of the files that it names
	rows []registryRow
}

// registryRow is about the images whose names begin so.
type registryRow struct {
	prefix  string
	itself  http.RoundTripper // nil for the usual one
	blocked bool
	mirrors []mirror
}

type mirror struct {
	location   string
	by         http.RoundTripper
	digestOnly bool
}

const (
	// RegistriesAPIVersion and RegistriesKind are those of the file.
	RegistriesAPIVersion, RegistriesKind = "wasmgate.dev/v1", "ModuleRegistries"

	maxRegistriesFile = 1 << 20
	pollInterval      = 250 * time.Millisecond
)

// registriesDocument is the file as it is written.
type registriesDocument struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Registries []registryDocument `json:"registries"`
}

type registryDocument struct {
	Prefix  string `json:"prefix"`
	Blocked bool   `json:"blocked"`
	credentialFiles
	Mirrors []struct {
		Location   string `json:"location"`
		DigestOnly bool   `json:"digestOnly"`
		credentialFiles
	} `json:"mirrors"`
}

// credentialFiles are PEM, and relative to the folder of the file that names them.
type credentialFiles struct {
	CAFile   string `json:"caFile"`
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
}

// Read puts a file in force, unless it and what it names are as they were.
func (r *Registries) Read(path string) (changed bool, err error) {
	text, err := files.Read(path, maxRegistriesFile)
	if err != nil {
		return false, err
	}
	reading := &registriesReader{folder: filepath.Dir(path), all: [][]byte{text}}
	rows, err := reading.rows(text)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(bytes.Join(reading.all, []byte{0}))
	was := r.now.Load()
	if was != nil && was.sum == sum {
		return false, nil
	}
	r.now.Store(&registriesFile{sum, rows})
	return true, nil
}

// Follow reads the file whenever it, or one that it names, has changed, until ctx ends. One
// that cannot be used is told, and what it said before still counts; so is that another is
// in force, as nil.
func (r *Registries) Follow(ctx context.Context, path string, told func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for trouble := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changed, err := r.Read(path)
		switch {
		case err == nil:
			trouble = "" // also where the files are what they were before the trouble
		case err.Error() != trouble:
			trouble = err.Error()
			told(err)
		}
		if changed {
			told(nil)
		}
	}
}

// registriesReader reads a file and those that it names.
type registriesReader struct {
	folder string
	all    [][]byte
}

func (r *registriesReader) rows(text []byte) (rows []registryRow, err error) {
	var d registriesDocument
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		return nil, err
	}
	if d.APIVersion != RegistriesAPIVersion || d.Kind != RegistriesKind {
		return nil, fmt.Errorf("it is no %s of %s", RegistriesKind, RegistriesAPIVersion)
	}
	known := map[string]bool{}
	for i, x := range d.Registries {
		at := fmt.Sprintf("registries[%d]", i)
		row := registryRow{prefix: spelled(x.Prefix), blocked: x.Blocked}
		if err := checkPlace(x.Prefix); err != nil {
			return nil, fmt.Errorf("%s.prefix: %w", at, err)
		}
		if known[row.prefix] {
			return nil, fmt.Errorf("%s.prefix: %q is there twice", at, x.Prefix)
		}
		known[row.prefix] = true
		if row.itself, err = r.transport(x.credentialFiles); err != nil {
			return nil, fmt.Errorf("%s.%w", at, err)
		}
		for n, m := range x.Mirrors {
			at := fmt.Sprintf("%s.mirrors[%d]", at, n)
			one := mirror{location: m.Location, digestOnly: m.DigestOnly}
			if err := checkPlace(m.Location); err != nil {
				return nil, fmt.Errorf("%s.location: %w", at, err)
			}
			if one.by, err = r.transport(m.credentialFiles); err != nil {
				return nil, fmt.Errorf("%s.%w", at, err)
			}
			row.mirrors = append(row.mirrors, one)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// checkPlace refuses what no name of an image begins with.
func checkPlace(place string) error {
	name := place
	if !strings.Contains(name, "/") {
		name += "/x"
	}
	if ref, err := registry.ParseReference(name); err != nil || ref.Reference != "" {
		return fmt.Errorf("%q is not HOST, HOST:PORT or HOST/PATH", place)
	}
	return nil
}

// transport is what speaks to a place that has certificates of its own; nil where it has
// none. Errors begin with the field.
func (r *registriesReader) transport(c credentialFiles) (http.RoundTripper, error) {
	if c == (credentialFiles{}) {
		return nil, nil
	}
	use := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		text, err := r.read("caFile", c.CAFile)
		if err != nil {
			return nil, err
		}
		if use.RootCAs, err = x509.SystemCertPool(); err != nil {
			use.RootCAs = x509.NewCertPool()
		}
		if !use.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("caFile: %s has no certificate as PEM", c.CAFile)
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return nil, errors.New("certFile: has to be set together with keyFile")
	}
	if c.CertFile != "" {
		cert, err := r.read("certFile", c.CertFile)
		if err != nil {
			return nil, err
		}
		key, err := r.read("keyFile", c.KeyFile)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("certFile: %s with %s: %w", c.CertFile, c.KeyFile, err)
		}
		use.Certificates = []tls.Certificate{pair}
	}
	t := http.DefaultTransport.(*http.Transport).Clone() // as net/http documents it
	t.TLSClientConfig = use
	t.IdleConnTimeout = idleTimeout // nobody closes those of a file that is no longer in force
	return t, nil
}

func (r *registriesReader) read(field, path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.folder, path)
	}
	text, err := files.Read(path, maxRegistriesFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	r.all = append(r.all, text)
	return text, nil
}
