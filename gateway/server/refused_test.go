package server

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// A head that is refused is in the audit log, with where it came from.
func TestRun_WhatIsNoRequestIsInTheAuditLog(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.Audit.LogPath = filepath.Join(t.TempDir(), "audit.log")
	g := start(t, o)
	c, err := tls.Dial("tcp", strings.TrimPrefix(g.url, "https://"), g.http.Transport.(*http.Transport).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /api HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.Audit.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	var e auditv1.Event
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "Host is given more than once") {
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if e.AuditID == "" || e.Verb != "get" || e.RequestURI != "/api" || len(e.SourceIPs) != 1 || e.SourceIPs[0] != "127.0.0.1" || e.User.Username != "" ||
		e.ResponseStatus == nil || e.ResponseStatus.Code != 400 || e.Stage != auditv1.StageResponseComplete {
		t.Errorf("%+v in\n%s", e, text)
	}
}
