package shapes

import (
	"github.com/wasmgate/wasmgate/sdk"
)

// ingressToV1 renames the default backend, and splits a port that was a number or a
// name into a field for each.
func ingressToV1(o *sdk.Object) error {
	if err := renamed(o, []string{"spec", "backend"}, []string{"spec", "defaultBackend"})(); err != nil {
		return err
	}
	if err := backendToV1(o, "spec", "defaultBackend"); err != nil {
		return err
	}
	return eachPath(o, func(path *sdk.Object) error {
		return inOrder(func() error { return backendToV1(path, "backend") }, defaulted(path, `"ImplementationSpecific"`, "pathType"))
	})
}

func ingressToV1beta1(o *sdk.Object) error {
	if err := backendToV1beta1(o, "spec", "defaultBackend"); err != nil {
		return err
	}
	if err := renamed(o, []string{"spec", "defaultBackend"}, []string{"spec", "backend"})(); err != nil {
		return err
	}
	return eachPath(o, func(path *sdk.Object) error { return backendToV1beta1(path, "backend") })
}

func eachPath(o *sdk.Object, fn func(path *sdk.Object) error) error {
	return o.At("spec", "rules").Each(func(_ int, rule *sdk.Object) error {
		return rule.At("http", "paths").Each(func(_ int, path *sdk.Object) error { return fn(path) })
	})
}

func backendToV1(o *sdk.Object, at ...string) error {
	field := func(path ...string) []string { return append(append([]string(nil), at...), path...) }
	port := o.At(field("servicePort")...)
	to := "number"
	if _, named := port.String(); named {
		to = "name"
	}
	return inOrder(
		renamed(o, field("serviceName"), field("service", "name")),
		renamed(o, field("servicePort"), field("service", "port", to)))
}

func backendToV1beta1(o *sdk.Object, at ...string) error {
	field := func(path ...string) []string { return append(append([]string(nil), at...), path...) }
	if err := inOrder(
		renamed(o, field("service", "name"), field("serviceName")),
		renamed(o, field("service", "port", "name"), field("servicePort")),
		renamed(o, field("service", "port", "number"), field("servicePort"))); err != nil {
		return err
	}
	o.At(field("service")...).Delete()
	return nil
}

// The keys of a topology that became fields, and where the others are kept.
const zoneKey, hostKey = "topology.kubernetes.io/zone", "kubernetes.io/hostname"

// endpointsToV1 makes fields of the two keys of the topology that everybody used; the
// others stay in a map that is only there for them.
func endpointsToV1(o *sdk.Object) error {
	return o.At("endpoints").Each(func(_ int, e *sdk.Object) error {
		if err := inOrder(
			renamed(e, []string{"topology", zoneKey}, []string{"zone"}),
			renamed(e, []string{"topology", hostKey}, []string{"nodeName"}),
			renamed(e, []string{"topology"}, []string{"deprecatedTopology"})); err != nil {
			return err
		}
		if f := e.At("deprecatedTopology"); f.Len() == 0 {
			f.Delete()
		}
		return nil
	})
}

func endpointsToV1beta1(o *sdk.Object) error {
	return o.At("endpoints").Each(func(_ int, e *sdk.Object) error {
		return inOrder(
			renamed(e, []string{"deprecatedTopology"}, []string{"topology"}),
			renamed(e, []string{"zone"}, []string{"topology", zoneKey}),
			renamed(e, []string{"nodeName"}, []string{"topology", hostKey}))
	})
}

// eventNames are old and new names of an event's fields.
var eventNames = [][2]string{
	{"involvedObject", "regarding"}, {"message", "note"}, {"source", "deprecatedSource"}, {"count", "deprecatedCount"},
	{"firstTimestamp", "deprecatedFirstTimestamp"}, {"lastTimestamp", "deprecatedLastTimestamp"}, {"reportingComponent", "reportingController"},
}

// eventToV1 renames fields: the word "deprecated" says that nobody should fill them.
func eventToV1(o *sdk.Object) error {
	for _, n := range eventNames {
		if err := renamed(o, n[:1], n[1:])(); err != nil {
			return err
		}
	}
	return nil
}

func eventToV1beta1(o *sdk.Object) error {
	for _, n := range eventNames {
		if err := renamed(o, n[1:], n[:1])(); err != nil {
			return err
		}
	}
	return nil
}
