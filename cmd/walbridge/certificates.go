package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"google.golang.org/grpc/credentials"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

// certificates are what the daemon shows its clients and knows them by. Connections keep what they began with.
type certificates struct {
	files   config.TLS
	current atomic.Pointer[tls.Config]
}

func loadCertificates(files config.TLS) (*certificates, error) {
	c := &certificates{files: files}
	return c, c.reload()
}

// reload reads the files again; where one of them cannot be used, nothing changes.
func (c *certificates) reload() error {
	pair, err := tls.LoadX509KeyPair(c.files.Certificate, c.files.Key)
	if err != nil {
		return fmt.Errorf("tls.certificate, tls.key: %w", err)
	}
	pem, err := os.ReadFile(c.files.ClientCA)
	if err != nil {
		return fmt.Errorf("tls.client_ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("tls.client_ca: %s: %w", c.files.ClientCA, errors.New("no certificate in it"))
	}
	c.current.Store(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
		// A ticket would let in a client whose certificate the present client_ca no longer signs.
		SessionTicketsDisabled: true,
	})
	return nil
}

func (c *certificates) credentials() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	})
}
