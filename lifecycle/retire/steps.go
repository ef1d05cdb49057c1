package retire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// steps says what is to be done, in order.
func (m *making) steps() {
	if len(m.given) == 0 {
		return
	}
	if m.plan.Target != m.storage {
		m.add(Store, m.plan.Target, false, "objects are written at it from then on", m.patch(
			m.is(m.storage), operation{"replace", m.at(m.storage) + "/storage", false},
			m.is(m.plan.Target), operation{"replace", m.at(m.plan.Target) + "/storage", true}))
	}
	m.migrate()
	for _, v := range m.crd.Spec.Versions {
		if slices.Contains(m.given, v.Name) && v.Served {
			m.add(Unserve, v.Name, m.blocked(v.Name), "you can switch it on again", m.patch(
				m.is(v.Name), operation{"replace", m.at(v.Name) + "/served", false}))
		}
	}
	for _, v := range slices.Backward(m.crd.Spec.Versions) { // so that the places of those before stay right
		if slices.Contains(m.given, v.Name) {
			m.add(Remove, v.Name, m.blocked(v.Name), "there is no way back to objects at it", m.patch(
				m.is(v.Name), operation{Op: "remove", Path: m.at(v.Name)}))
		}
	}
}

// migrate has what is stored at versions that go written again, if there is anything.
func (m *making) migrate() {
	var at []string
	var n int64
	for _, name := range m.given {
		stored := m.stored(name)
		if m.listed(name) || stored != nil && *stored > 0 {
			at = append(at, name)
		}
		if stored != nil {
			n += *stored
		}
	}
	if len(at) == 0 {
		return
	}
	command := "wasmgate migrate " + m.crd.Name
	if m.Usage == nil {
		m.add(Migrate, m.plan.Target, false, "all objects are written at it", command)
		m.add(Drop, list(at), true, "leaves status.storedVersions, once no object is stored at it", fmt.Sprintf(
			`kubectl patch crd %s --subresource=status --type=merge -p '{"status":{"storedVersions":["%s"]}}'`, m.crd.Name, m.plan.Target))
		return
	}
	m.add(Migrate, m.plan.Target, m.Usage.Unreadable > 0, fmt.Sprintf("what is stored at %s (%s) is written at it, and status.storedVersions has it alone", list(at), objects(n)), command)
}

func (m *making) add(do, version string, waits bool, what, command string) {
	m.plan.Steps = append(m.plan.Steps, Step{Do: do, Version: version, What: what, Command: command, Waits: waits})
}

// at is where a version is in the definition.
func (m *making) at(name string) string {
	for i, v := range m.crd.Spec.Versions {
		if v.Name == name {
			return fmt.Sprintf("/spec/versions/%d", i)
		}
	}
	return ""
}

// is makes a patch fail where somebody changed the order of the versions.
func (m *making) is(name string) operation { return operation{"test", m.at(name) + "/name", name} }

// patch is a command that patches the definition. Names of versions and definitions
// have nothing in them that a shell would take for its own.
func (m *making) patch(operations ...operation) string {
	text, _ := json.Marshal(operations) // texts and booleans
	return fmt.Sprintf("kubectl patch crd %s --type=json -p '%s'", m.crd.Name, text)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
