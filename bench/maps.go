package main

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// maps are the steps about a built-in kind: ConfigMaps of 1 KB in a namespace
// of their own, listed in protobuf and compressed. They run only when they are
// named.
var maps = []step{
	{"maps", "POST of a ConfigMap of 1 KB", func(c config, t *target) (measurement, error) {
		if err := t.ok("POST", "/api/v1/namespaces", jsonType, "", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+workload.ConfigMapNamespace+`"}}`)); err != nil {
			return measurement{}, err
		}
		t.before = t.settled()
		return load{total: c.objects, clients: c.clients, request: func(i int) error {
			return t.ok("POST", workload.ConfigMaps, jsonType, jsonType, workload.ConfigMap(i))
		}}.measure(t), nil
	}},
	{"listmaps", "all of them in JSON", listMaps(jsonType, "")},
	{"listpb", "all of them in protobuf", listMaps(protobufType, "")},
	{"listgz", "all of them in JSON, compressed", listMaps(jsonType, "gzip")},
	{"listpbgz", "all of them in protobuf, compressed", listMaps(protobufType, "gzip")},
	{"listchanged", "all of them in protobuf, compressed, after a change of one", func(c config, t *target) (measurement, error) {
		return load{duration: c.duration, clients: 1, request: func(i int) error {
			patch := []byte(`{"data":{"n":"` + strconv.Itoa(i) + `"}}`)
			if err := t.ok("PATCH", workload.ConfigMaps+"/map-"+strconv.Itoa(i*7919%c.objects), merge, jsonType, patch); err != nil {
				return err
			}
			_, err := t.listMaps(protobufType, "gzip")
			return err
		}}.measure(t), nil
	}},
	{"tenlists", "all of them in JSON, ten clients at once", tenLists},
}

func mapSteps() string { return joined(maps) }

const protobufType = "application/vnd.kubernetes.protobuf"

func listMaps(accept, encoding string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		var size int
		m := load{duration: c.duration, clients: listClients, request: func(i int) error {
			n, err := t.listMaps(accept, encoding)
			if i == 0 {
				size = n
			}
			return err
		}}.measure(t)
		m.Note = fmt.Sprintf("%.1f MB", float64(size)/1e6)
		return m, nil
	}
}

// listMaps lists all ConfigMaps and returns how many bytes came.
func (t *target) listMaps(accept, encoding string) (size int, err error) {
	var failed error
	err = t.send("GET", workload.ConfigMaps, nil, func(r *fasthttp.Response) {
		size = len(r.Body())
		if got := r.Header.Peek("Content-Encoding"); r.StatusCode() != 200 || string(got) != encoding {
			failed = fmt.Errorf("GET %s: %d, compressed with %q", workload.ConfigMaps, r.StatusCode(), got)
		}
	}, header{"Accept", accept}, header{"Accept-Encoding", encoding})
	return size, errors.Join(err, failed)
}

// tenLists has ten clients list everything at once, three times, and tells how
// far the server's memory rises above what it had at rest, in terms of the
// collection's own size.
func tenLists(_ config, t *target) (measurement, error) {
	const clients = 10
	size, err := t.listMaps(jsonType, "")
	if err != nil {
		return measurement{}, err
	}
	rest := t.settled()
	peak := t.peak()
	var mu sync.Mutex
	var failed error
	m := load{total: 3 * clients, clients: clients, request: func(int) error {
		_, err := t.listMaps(jsonType, "")
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		return err
	}}.measure(t)
	top := peak()
	m.Note = fmt.Sprintf("from %.0f MB at rest to %.0f MB, which is %.2f times the %.0f MB of the list", rest, top, (top-rest)*1e6/float64(size), float64(size)/1e6)
	return m, failed
}

// peak watches the server's memory until the function that it returns is called, which
// tells how much it was at most.
func (t *target) peak() func() float64 {
	stop, peak := make(chan struct{}), make(chan float64)
	go func() {
		most, tick := t.usage().rss, time.NewTicker(5*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, t.usage().rss)
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-peak
	}
}

// unmap removes the ConfigMaps.
func unmap(t *target) {
	// At the end: nothing depends on it.
	_, _, _ = t.do("DELETE", workload.ConfigMaps, "", "", nil)
	_, _, _ = t.do("DELETE", "/api/v1/namespaces/"+workload.ConfigMapNamespace, "", "", nil)
}
