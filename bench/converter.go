package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// converter starts or uploads what the target converts with, and returns the
// definition's clientConfig.
func converter(c config, t *target) (clientConfig string, err error) {
	name, wasm := strings.CutPrefix(c.conv, "wasm://")
	switch {
	case c.conv == "none":
		return "", nil
	case c.conv == "webhook" || wasm && t.name == "peer":
		return webhook()
	case wasm:
		return fmt.Sprintf(`{"url":%q}`, c.conv), push(c, t, name)
	}
	return "", fmt.Errorf("-conv %s: want none, webhook or wasm://NAME", c.conv)
}

const modulePath = "/apis/wasmgate.dev/v1/wasmmodules"

// push uploads the module and waits until it is ready.
func push(c config, t *target, name string) error {
	file := c.wasm
	if file == "" {
		dir, err := os.MkdirTemp("", "bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "bench.wasm")
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, "github.com/wasmgate/wasmgate/bench/module")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the module: %w\n%s", err, out)
		}
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	object := `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"` + name + `"},"spec":{"source":{"upload":{}}}}`
	if code, reply, err := t.do("POST", modulePath, jsonType, "", []byte(object)); err != nil || code >= 300 && code != http.StatusConflict {
		return fmt.Errorf("create the module: %w %d %s", err, code, reply)
	}
	if err := t.ok("PUT", modulePath+"/"+name+"/content", "application/wasm", "", wasm); err != nil {
		return err
	}
	return awaitReady(t, name)
}

func awaitReady(t *target, name string) error {
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, reply, err := t.do("GET", modulePath+"/"+name, "", jsonType, nil)
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		if err == nil && json.Unmarshal(reply, &o) == nil {
			for _, c := range o.Status.Conditions {
				if c.Type == "Ready" && c.Status == "True" {
					return nil
				}
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the module is not ready: %v %s", err, reply)
		}
		<-tick.C
	}
}

// webhook is served once for all targets; its value is a clientConfig.
var webhook = sync.OnceValues(serveWebhook)

// serveWebhook serves the same conversion over HTTPS, as a plain Go webhook
// does.
func serveWebhook() (clientConfig string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", err
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		return "", err
	}
	go func() { _ = http.Serve(l, http.HandlerFunc(review)) }()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return fmt.Sprintf(`{"url":"https://%s/convert","caBundle":%q}`, l.Addr(), base64.StdEncoding.EncodeToString(ca)), nil
}

// conversionReview is as much of a ConversionReview as the webhook needs.
type conversionReview struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Request    *conversionRequest  `json:"request,omitempty"`
	Response   *conversionResponse `json:"response,omitempty"`
}

type conversionRequest struct {
	UID     string           `json:"uid"`
	Desired string           `json:"desiredAPIVersion"`
	Objects []map[string]any `json:"objects"`
}

type conversionResponse struct {
	UID     string           `json:"uid"`
	Result  map[string]any   `json:"result"`
	Objects []map[string]any `json:"convertedObjects"`
}

func review(w http.ResponseWriter, r *http.Request) {
	var v conversionReview
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil || v.Request == nil {
		http.Error(w, "no ConversionReview", http.StatusBadRequest)
		return
	}
	for _, o := range v.Request.Objects {
		o["apiVersion"] = v.Request.Desired
		if spec, ok := o["spec"].(map[string]any); ok {
			convert(spec, strings.HasSuffix(v.Request.Desired, "/v2"))
		}
	}
	v.Response = &conversionResponse{UID: v.Request.UID, Result: map[string]any{"status": "Success"}, Objects: v.Request.Objects}
	v.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func convert(spec map[string]any, split bool) {
	if hostPort, ok := spec["hostPort"].(string); ok && split {
		spec["host"], spec["port"], _ = strings.Cut(hostPort, ":")
		delete(spec, "hostPort")
	}
	host, hasHost := spec["host"].(string)
	if port, ok := spec["port"].(string); ok && hasHost && !split {
		spec["hostPort"] = host + ":" + port
		delete(spec, "host")
		delete(spec, "port")
	}
}
