package pod

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Connections are the subresources that only the node of a pod, or the pod, could
// answer, by name. Admission is asked all the same, as it may refuse them.
func Connections(as As, judge Judge) map[string]Connection {
	out := map[string]Connection{}
	for name, c := range map[string]Connection{
		"exec":        {kind: "PodExecOptions", options: func() any { return &corev1.PodExecOptions{} }},
		"attach":      {kind: "PodAttachOptions", options: func() any { return &corev1.PodAttachOptions{} }},
		"portforward": {kind: "PodPortForwardOptions", options: func() any { return &corev1.PodPortForwardOptions{} }},
		"proxy":       {kind: "PodProxyOptions", options: func() any { return &corev1.PodProxyOptions{} }, passes: true},
	} {
		c.as, c.judge = as, judge
		out[name] = c
	}
	return out
}

// Connection is a subresource that a client is connected to.
type Connection struct {
	as    As
	judge Judge
	// kind is that of the options, and options makes some.
	kind    string
	options func() any
	// passes: it is the pod that is talked to, not its node.
	passes bool
}

// Passes implements api.Connection.
func (c Connection) Passes() bool { return c.passes }

// Connect implements api.Connection.
func (c Connection) Connect(ctx context.Context, t resource.Target, path string, query url.Values, o resource.WriteOptions) (any, error) {
	options := c.options()
	if err := decode(query, options); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if p, ok := options.(*corev1.PodProxyOptions); ok {
		p.Path = path
	}
	if err := c.judge.Judge(ctx, t, resource.Sent{Kind: corev1.SchemeGroupVersion.WithKind(c.kind), Object: options, Connects: true}, o); err != nil {
		return nil, err
	}
	p, err := pod(ctx, c.as(self), t)
	switch {
	case err != nil:
		return nil, err
	case c.passes:
		return nil, unreached(p)
	}
	return nil, unrun(p)
}

var errNoKubelet = errors.New("this server does not reach the kubelets of nodes")

// unrun tells why the node of a pod does not answer.
func unrun(p *corev1.Pod) error {
	if p.Spec.NodeName == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", p.Name))
	}
	return apierrors.NewInternalError(fmt.Errorf("node %s: %w", p.Spec.NodeName, errNoKubelet))
}

var errNoPods = errors.New("this server does not reach pods")

// unreached tells why a pod does not answer: kube-apiserver refuses addresses that
// are none, or its own.
func unreached(p *corev1.Pod) error {
	ip := net.ParseIP(p.Status.PodIP)
	if ip == nil || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() {
		return apierrors.NewBadRequest("address not allowed")
	}
	return apierrors.NewInternalError(fmt.Errorf("pod %s: %w", p.Name, errNoPods))
}

// log is what a pod wrote, which only its node knows.
type log struct{ as As }

// answer is an [Answer].
func (l log) answer(ctx context.Context, t resource.Target, _ string, _ []byte, _ resource.WriteOptions) (any, error) {
	p, err := pod(ctx, l.as(self), t)
	if err != nil {
		return nil, err
	}
	return nil, unrun(p)
}
