package options

import (
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/admission/order"
)

// Plugins names the plugins that can be switched on and off, for help.
func Plugins() string {
	by := map[order.Default][]string{}
	for _, p := range order.Plugins {
		if !slices.Contains(by[p.Is], p.Name) {
			by[p.Is] = append(by[p.Is], p.Name)
		}
	}
	return strings.Join(by[order.On], ", ") + " (on by default), " + strings.Join(by[order.Off], ", ")
}

// Admits reports whether an admission plugin is on.
func (s Serve) Admits(plugin string) bool {
	is := order.DefaultOf(plugin)
	on := is >= order.On || is == order.Off && slices.Contains(s.EnableAdmissionPlugins, plugin)
	return on && !slices.Contains(s.DisableAdmissionPlugins, plugin)
}

func (s Serve) validatePlugins(bad func(flag, format string, args ...any)) {
	const enable, disable = "enable-admission-plugins", "disable-admission-plugins"
	for _, p := range s.EnableAdmissionPlugins {
		switch is := order.DefaultOf(p); {
		case slices.Contains(s.DisableAdmissionPlugins, p):
			bad(enable, "%s is in --%s, too", p, disable)
		case is == order.Absent:
			bad(enable, "there is no %s here, so it could not be relied on", p)
		case is == order.Unknown:
			bad(enable, "there is no plugin %q", p)
		}
	}
	for _, p := range s.DisableAdmissionPlugins {
		switch order.DefaultOf(p) {
		case order.Always:
			bad(disable, "%s is always on", p)
		case order.Unknown:
			bad(disable, "there is no plugin %q", p)
		}
	}
}
