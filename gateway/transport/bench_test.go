package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

const clientHead = "GET /apis/example.com/v1/namespaces/default/widgets/one HTTP/1.1\r\nHost: 127.0.0.1:6443\r\nUser-Agent: controller/v1.2.3 (linux/amd64) kubernetes/abcdef0\r\n" +
	"Accept: application/json, */*\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\nAccept-Encoding: gzip\r\n\r\n"

// BenchmarkReply is a request and its reply over one TLS connection, client
// included.
func BenchmarkReply(b *testing.B) {
	for _, size := range []int{1 << 10, 3500, 6 << 10, 15 << 10, 100 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			body := bytes.Repeat([]byte("x"), size)
			r := run(b, func(*api.Request) *reply.Response {
				return &reply.Response{Code: http.StatusOK, ContentType: "application/json", Body: body}
			})
			c, err := tls.Dial("tcp", r.addr, r.tls)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			in := bufio.NewReaderSize(c, 64<<10)
			b.ReportAllocs()
			begin := processTime(b)
			defer func() { b.ReportMetric(float64(processTime(b)-begin)/float64(b.N), "cpu-ns/op") }()
			for b.Loop() {
				if _, err := io.WriteString(c, clientHead); err != nil {
					b.Fatal(err)
				}
				for n := 0; ; {
					line, err := in.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					if n++; len(line) <= 2 {
						break
					}
				}
				if _, err := in.Discard(size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// processTime is the CPU time that this process has taken, in nanoseconds.
func processTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRequest is what is copied of one request's head.
func BenchmarkRequest(b *testing.B) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	s := &Server{options: Options{TLS: &tls.Config{}}}
	var ctx fasthttp.RequestCtx
	ctx.Init2(&conn{Conn: tls.Server(here, &tls.Config{}), raw: here}, nil, false)
	if err := ctx.Request.Header.Read(bufio.NewReader(bytes.NewReader([]byte(clientHead)))); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if head := look(&ctx.Request.Header); head.wrong != "" {
			b.Fatal(head.wrong)
		}
		if r := s.request(&ctx); r.Method != "GET" {
			b.Fatal(r.Method)
		}
	}
}

// BenchmarkStreams is the memory of a stream, stacks included and without the client's
// end: one that waits for an event, and one whose client has not read any of large events
// that all are sent.
func BenchmarkStreams(b *testing.B) {
	const streams = 200
	object := bytes.Repeat([]byte("x"), 300<<10)
	for name, events := range map[string]int{"idle": 1, "parked": 40} {
		b.Run(name, func(b *testing.B) {
			var full sync.WaitGroup
			r := run(b, func(*api.Request) *reply.Response {
				return streaming(func(ctx context.Context, w reply.FrameWriter) {
					var once sync.Once
					w.Hold(func() bool { once.Do(full.Done); return ctx.Err() == nil })
					for range events {
						w.Frame([]byte("{"), object[:min(len(object), 1<<10*events*events)], "}")
						if w.Flush() != nil {
							return
						}
					}
					once.Do(full.Done)
					<-ctx.Done()
				})
			})
			for b.Loop() {
				full.Add(streams)
				before := memory()
				var clients []net.Conn
				for range streams {
					clients = append(clients, r.ask())
				}
				full.Wait()
				b.ReportMetric(float64(memory()-before)/streams, "B/stream")
				for _, c := range clients {
					_ = c.Close()
				}
			}
		})
	}
}

// ask begins a stream in another process's place: as little as there can be of a client.
func (r *running) ask() net.Conn {
	c, err := tls.Dial("tcp", r.addr, r.tls)
	if err == nil {
		_, err = io.WriteString(c, clientHead)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return c.NetConn()
}

// memory is what is in use, when what can be given back was.
func memory() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
