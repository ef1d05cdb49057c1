// Package keyservice is a key service for tests: a KMS v2 plugin at a Unix socket, whose
// keys anybody can know.
//
// It owns the plugin's side of the protocol. It must not know who calls it: a gateway,
// or a kube-apiserver for comparison (`go run ./test/cmd/keyservice SOCKET`).
package keyservice

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	kmsapi "k8s.io/kms/apis/v2"
)

// Service is a key service. It is safe for concurrent use.
type Service struct {
	kmsapi.UnsafeKeyManagementServiceServer
	mu    sync.Mutex
	key   string
	known map[string]bool
}

// New makes a service whose keys follow from their names; the last one encrypts.
func New(keys ...string) *Service {
	s := &Service{known: map[string]bool{}}
	for _, k := range keys {
		s.Use(k)
	}
	return s
}

// Use has a key encrypt from now on.
func (s *Service) Use(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.known[key] = key, true
}

// Serve answers at a socket, which must not exist, until stop is called.
func (s *Service) Serve(socket string) (stop func(), err error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	kmsapi.RegisterKeyManagementServiceServer(server, s)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // until it is stopped
	}()
	return func() { server.Stop(); <-ended }, nil
}

// Status implements the protocol.
func (s *Service) Status(context.Context, *kmsapi.StatusRequest) (*kmsapi.StatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &kmsapi.StatusResponse{Version: "v2", Healthz: "ok", KeyId: s.key}, nil
}

// Encrypt implements the protocol.
func (s *Service) Encrypt(_ context.Context, r *kmsapi.EncryptRequest) (*kmsapi.EncryptResponse, error) {
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	nonce := make([]byte, 12)
	_, _ = rand.Read(nonce) // never fails
	return &kmsapi.EncryptResponse{KeyId: key, Ciphertext: aead(key).Seal(nonce, nonce, r.Plaintext, nil)}, nil
}

// Decrypt implements the protocol.
func (s *Service) Decrypt(_ context.Context, r *kmsapi.DecryptRequest) (*kmsapi.DecryptResponse, error) {
	s.mu.Lock()
	known := s.known[r.KeyId]
	s.mu.Unlock()
	if !known || len(r.Ciphertext) < 12 {
		return nil, status.Error(codes.NotFound, fmt.Sprintf("no key %q", r.KeyId))
	}
	plain, err := aead(r.KeyId).Open(nil, r.Ciphertext[:12], r.Ciphertext[12:], nil)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &kmsapi.DecryptResponse{Plaintext: bytes.Clone(plain)}, nil
}

// aead encrypts with the key of a name.
func aead(name string) cipher.AEAD {
	key := sha256.Sum256([]byte(name))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // of 32 bytes it does not fail
	}
	a, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return a
}
