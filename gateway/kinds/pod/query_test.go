package pod

import (
	"net/url"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestOptionsOfConnections(t *testing.T) {
	for query, want := range map[string]any{
		"command=a&command=b&stdin=true&container=c":       &corev1.PodExecOptions{Command: []string{"a", "b"}, Stdin: true, Container: "c"},
		"stdout=&stderr=no&tty=1":                          &corev1.PodExecOptions{Stdout: true, Stderr: true, TTY: true},
		"stdin=false&stdout=FALSE&stderr=0&odd=1&Command=": &corev1.PodExecOptions{},
		"container=c&container=d&tty=true":                 &corev1.PodAttachOptions{Container: "c", TTY: true},
		"ports=1,2&ports=3":                                &corev1.PodPortForwardOptions{Ports: []int32{1, 2, 3}},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := decode(values, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", query, got, err)
		}
	}
	for _, ports := range []string{"x", "1,", "-1", "65536"} {
		if err := decode(url.Values{"ports": {ports}}, &corev1.PodPortForwardOptions{}); err == nil {
			t.Errorf("%s is a port", ports)
		}
	}
}

// A pod is reached, if at all, by an address that is no other's.
func TestAddressesOfPods(t *testing.T) {
	for ip, want := range map[string]bool{"": false, "x": false, "127.0.0.1": false, "::1": false, "0.0.0.0": false, "169.254.169.254": false, "224.0.0.1": false, "10.1.2.3": true, "fd00::1": true} {
		err := unreached(&corev1.Pod{Status: corev1.PodStatus{PodIP: ip}})
		if allowed := err.Error() != "address not allowed"; allowed != want {
			t.Errorf("%q: %v", ip, err)
		}
	}
}
