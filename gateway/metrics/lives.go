package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// lives are what is known of metrics, as of one release.
type lives struct {
	table  map[string]lifecycle.Life
	now    lifecycle.Release
	hidden bool // these are shown as well
	// disabled are shown to nobody.
	disabled []string
}

// Live makes the metrics those of a release, and shows those that it hides if
// showHidden says so. It returns what there is to say of deprecated ones, and is
// called before anything is rendered.
func (m *Metrics) Live(now lifecycle.Release, showHidden bool) (warnings []string) {
	m.lives.now, m.lives.hidden = now, showHidden
	for _, name := range slices.Sorted(maps.Keys(m.lives.table)) {
		life := m.lives.table[name]
		if !life.IsDeprecated(now) || life.IsHidden(now) && !showHidden {
			continue
		}
		warning := fmt.Sprintf("The metric %s is deprecated from %s", name, life.Deprecated)
		if life.Replacement != "" {
			warning += "; use " + life.Replacement
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// Disable hides metrics of some names from everybody. It is called before anything is
// rendered.
func Disable(m *Metrics, names []string) { m.lives.disabled = names }

// shows puts the class of a metric before its help, and that it is deprecated. It
// returns false for one that is not shown. Those of libraries that know classes
// have them already, and those of the process have none.
func (l lives) shows(f *dto.MetricFamily) bool {
	name, help := f.GetName(), f.GetHelp()
	if slices.Contains(l.disabled, name) {
		return false
	}
	if strings.HasPrefix(help, "[") || strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
		return true
	}
	life := l.table[name]
	if !life.Exists(l.now) || life.IsHidden(l.now) && !l.hidden {
		return false
	}
	if life.IsDeprecated(l.now) {
		help = fmt.Sprintf("(Deprecated from %s) %s", life.Deprecated, help)
	}
	help = fmt.Sprintf("[%s] %s", life.Stability, help)
	f.Help = &help
	return true
}
