// Package crontab owns the conversion of the CronTab of the Kubernetes
// documentation between its two versions: v1beta1 has hostPort, v1 has host and
// port.
//
// examples/crontab/module makes a Wasm module of it; the same package serves an
// HTTPS webhook through sdk.HandleConversion. It must not know the gateway.
package crontab

import (
	"errors"
	"strings"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	sdk.Convert("v1beta1", "v1", ToV1)
	sdk.Convert("v1", "v1beta1", ToV1beta1)
}

// ToV1 splits hostPort.
func ToV1(o *sdk.Object) error {
	field := o.At("hostPort")
	if !field.Exists() {
		return nil
	}
	hostPort, ok := field.String()
	colon := strings.LastIndexByte(hostPort, ':')
	if !ok || colon < 0 {
		return errors.New("hostPort could not be parsed into a separate host and port")
	}
	field.Delete()
	if err := o.At("host").SetString(hostPort[:colon]); err != nil {
		return err
	}
	return o.At("port").SetString(hostPort[colon+1:])
}

// ToV1beta1 joins host and port.
func ToV1beta1(o *sdk.Object) error {
	host, hasHost := o.At("host").String()
	port, hasPort := o.At("port").String()
	if !hasHost && !hasPort {
		return nil
	}
	o.At("host").Delete()
	o.At("port").Delete()
	return o.At("hostPort").SetString(host + ":" + port)
}
