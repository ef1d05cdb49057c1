// Package v1alpha1 has a kind as it was.
package v1alpha1

import (
	"errors"
	"time"

	v1 "example.com/widgets/api/v1"
)

// Widget converts itself.
type Widget struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Spec       Spec              `json:"spec,omitempty"`
}

// Spec is what is wanted.
type Spec struct {
	ReplicaCount int      `json:"replicaCount,omitempty"`
	Timeout      string   `json:"timeout,omitempty"`
	Policy       string   `json:"policy,omitempty"`
	Same         string   `json:"same,omitempty"`
	Blob         *Item    `json:"blob,omitempty"`
	Volume       *Storage `json:"volume,omitempty"`
	Tricky       string   `json:"tricky,omitempty"`
	Gone         string   `json:"gone,omitempty"`
	On           bool     `json:"live,omitempty"`
	List         []Item   `json:"list,omitempty"`
}

// Storage is where data are.
type Storage struct {
	ClassName string `json:"className,omitempty"`
	Size      string `json:"size,omitempty"`
}

// Item is one of several.
type Item struct {
	Name string `json:"name"`
	Path string `json:"subPath,omitempty"`
}

// ConvertTo makes the new version of it.
func (w *Widget) ConvertTo(hub interface{ Hub() }) error {
	out := hub.(*v1.Widget)
	out.Spec = v1.Spec{Replicas: w.Spec.ReplicaCount, Same: w.Spec.Same, Storage: (*v1.Storage)(w.Spec.Volume), Elsewhere: w.Spec.On}
	if w.Spec.Timeout != "" {
		d, err := time.ParseDuration(w.Spec.Timeout)
		if err != nil {
			return err
		}
		out.Spec.TimeoutSeconds = int(d.Seconds())
	}
	switch w.Spec.Policy {
	case "always":
		out.Spec.Policy = "Always"
	case "never":
		out.Spec.Policy = "Never"
	case "":
	default:
		return errors.New("no such policy")
	}
	for _, i := range w.Spec.List {
		out.Spec.List = append(out.Spec.List, v1.Item{Name: i.Name, Path: i.Path})
	}
	if w.Spec.Tricky != "" { // which no schema tells
		out.Spec.Tricky = "not " + w.Spec.Tricky
	}
	return nil
}
