// Package v1 owns the older version of the Database of the example, and how it converts to
// and from the hub, as for controller-runtime's conversion webhook.
//
// It must not know that there are modules.
package v1

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v2 "github.com/wasmgate/wasmgate/examples/convertible/v2"
)

// TLSAnnotation keeps what a Database of v2 says and this version has no field for.
const TLSAnnotation = "databases.example.com/tls"

// Database is one at v1.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// Spec is where a database listens, and who may use it.
type Spec struct {
	// HostPort is like db.example.com:5432, or without a port.
	HostPort string   `json:"hostPort,omitempty"`
	Users    []string `json:"users,omitempty"`
}

// DeepCopyObject implements [runtime.Object].
func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Users = append([]string(nil), d.Spec.Users...)
	return &out
}

// ConvertTo implements [conversion.Convertible].
func (d *Database) ConvertTo(dst conversion.Hub) error {
	to := dst.(*v2.Database)
	d.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	to.Spec = v2.Spec{Host: d.Spec.HostPort, Users: d.Spec.Users}
	if host, port, err := net.SplitHostPort(d.Spec.HostPort); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("spec.hostPort: %q is no port", port)
		}
		to.Spec.Host, to.Spec.Port = host, int32(n)
	}
	if kept := d.Annotations[TLSAnnotation]; kept != "" {
		delete(to.Annotations, TLSAnnotation)
		return json.Unmarshal([]byte(kept), &to.Spec.TLS)
	}
	return nil
}

// ConvertFrom implements [conversion.Convertible].
func (d *Database) ConvertFrom(src conversion.Hub) error {
	from := src.(*v2.Database)
	from.ObjectMeta.DeepCopyInto(&d.ObjectMeta)
	d.Spec = Spec{HostPort: from.Spec.Host, Users: from.Spec.Users}
	if from.Spec.Port != 0 {
		d.Spec.HostPort = net.JoinHostPort(from.Spec.Host, strconv.Itoa(int(from.Spec.Port)))
	}
	if from.Spec.TLS == nil {
		return nil
	}
	kept, err := json.Marshal(from.Spec.TLS)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, TLSAnnotation, string(kept))
	return nil
}
