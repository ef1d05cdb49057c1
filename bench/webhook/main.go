// Command webhook measures calls of a conversion webhook at a steady rate: it posts
// ConversionReviews with one object of about 2 KB, each at its time whether or not those
// before it were answered, and prints the quantiles from that time to the reply.
//
//	wasmgate webhook crontab.wasm --secure-port 9443 --data-dir data &
//	go run ./bench/webhook --url https://127.0.0.1:9443/convert/crontab --ca data/pki/ca.crt
//
// It owns the load and how it is measured. It must not import the gateway.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	url := flag.String("url", "", "`address` of the webhook, with its path")
	ca := flag.String("ca", "", "PEM `file` with the authority that verifies it")
	rate := flag.Int("rate", 100, "calls per second")
	length := flag.Duration("d", 10*time.Second, "how long to call, after a second that is not counted")
	flag.Parse()
	if *url == "" || *rate <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	bundle, err := os.ReadFile(*ca)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 25, // as kube-apiserver's
	}}
	steady(client, *url, *rate, time.Second)
	took, failed := steady(client, *url, *rate, *length)
	if len(took) == 0 {
		log.Fatalf("none of %d calls succeeded", failed)
	}
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(time.Microsecond) }
	fmt.Printf("%d calls at %d/s, %d failed: p50 %s, p90 %s, p99 %s, max %s\n", len(took), *rate, failed, at(0.5), at(0.9), at(0.99), at(1))
}

// review asks for an object of about 2 KB at v1.
var review = fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"7","desiredAPIVersion":"example.com/v1","objects":[`+
	`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a","namespace":"default","uid":"u","annotations":{"example.com/text":%q}},"hostPort":"localhost:1234"}]}}`, strings.Repeat("x", 1800))

// steady calls at a rate, and returns how long each call took from when it was due.
func steady(client *http.Client, url string, rate int, length time.Duration) (took []time.Duration, failed int) {
	var mu sync.Mutex
	var calls sync.WaitGroup
	begun := time.Now()
	for i := range int(length.Seconds() * float64(rate)) {
		due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		calls.Go(func() {
			err := call(client, url)
			spent := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
				return
			}
			took = append(took, spent)
		})
	}
	calls.Wait()
	return took, failed
}

func call(client *http.Client, url string) error {
	resp, err := client.Post(url, "application/json", strings.NewReader(review))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err == nil && !bytes.Contains(reply, []byte(`"status":"Success"`)) {
		err = fmt.Errorf("%s: %s", resp.Status, reply)
	}
	return err
}
