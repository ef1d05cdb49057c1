// Package v2 owns the hub of the Database of the example.
//
// It must not know the other versions, which convert to it and from it.
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Database is one at v2.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// Spec is where a database listens, and who may use it.
type Spec struct {
	Host  string   `json:"host,omitempty"`
	Port  int32    `json:"port,omitempty"`
	TLS   *TLS     `json:"tls,omitempty"`
	Users []string `json:"users,omitempty"`
}

// TLS is how connections are secured.
type TLS struct {
	SecretName string `json:"secretName,omitempty"`
}

// Hub marks the version that the others are converted to and from.
func (*Database) Hub() {}

// DeepCopyObject implements [runtime.Object].
func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Users = append([]string(nil), d.Spec.Users...)
	if d.Spec.TLS != nil {
		tls := *d.Spec.TLS
		out.Spec.TLS = &tls
	}
	return &out
}
