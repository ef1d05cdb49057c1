package cli

import (
	"strings"
	"testing"
)

func TestModuleLogs(t *testing.T) {
	g := newFakeGateway(t)
	if out, err := command(t, "module", "logs", "m", "--kubeconfig", g.kubeconfig); err != nil || out != "the log of m\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := command(t, "module", "logs", "silent", "--kubeconfig", g.kubeconfig); err != nil || out != "wasmmodule/silent wrote nothing on the gateway that answers, since that started\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := command(t, "module", "logs", "none", "--kubeconfig", g.kubeconfig); err == nil || !strings.Contains(err.Error(), "no: NotFound") || out != "" {
		t.Errorf("%s, %v", out, err)
	}
}
