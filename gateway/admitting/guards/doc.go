// Package guards owns what the folders of --admission-control-config-file say: the
// policies, webhook configurations, modules and their trust that no request changes. A
// folder is read as a whole, checked as a write of its objects would be, followed, and
// what it said before stays in force where it cannot be used. And what else the file says
// of plugins, as the credentials that webhooks are shown.
//
// It must not know who asks a guard, nor how modules are loaded.
package guards
