package crontab

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/sdk"
)

func BenchmarkNative(b *testing.B) {
	var objs [][]byte
	const n = 100
	for k := range n {
		objs = append(objs, []byte(fmt.Sprintf(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"creationTimestamp":"2019-09-04T14:03:02Z","name":"local-crontab-%d","namespace":"default","resourceVersion":"143","uid":"3415a7fc-162b-4300-b5da-fd6083580d66","labels":{"a":"b","c":"d"},"managedFields":[{"apiVersion":"example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:hostPort":{},"f:spec":{"f:x":{},"f:yyyyy":{},"f:zzzzzz":{"f:a":{},"f:b":{},"f:c":{}}}},"manager":"Go-http-client","operation":"Update","time":"2026-11-21T08:38:56Z"}]},"hostPort":"localhost:1234","spec":{"data":"%s","list":["a","b","c",{"x":1,"y":2}]}}`, k, bytes.Repeat([]byte("x"), 500))))
	}
	req := review.AppendRequest(nil, "v1", "u", "example.com/v1", objs)
	b.ReportAllocs()
	for b.Loop() {
		sdk.HandleConversion(req)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/object")
}
