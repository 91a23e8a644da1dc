package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// client is how a command reaches a daemon: over a unix socket, or over TCP with a certificate of its own.
type client struct {
	target, ca, cert, key string
}

// addFlags has grpcurl's names for what grpcurl has, too.
func (c *client) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.ca, "cacert", "",
		"over TLS: who signed the daemon's certificate (PEM); without it, one of the system's authorities")
	flags.StringVar(&c.cert, "cert", "", "over TLS: the certificate to show, which tls.client_ca signed (PEM)")
	flags.StringVar(&c.key, "key", "", "over TLS: its private key (PEM)")
}

func (c *client) tls() bool { return c.ca != "" || c.cert != "" || c.key != "" }

// dial returns a connection, which is made by the first call. Its errors are wrong usage.
func (c *client) dial() (*grpc.ClientConn, error) {
	creds, err := c.credentials()
	if err != nil {
		return nil, coded{exitUsage, err}
	}
	target, err := c.address()
	if err != nil {
		return nil, coded{exitUsage, err}
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		return nil, coded{exitUsage, fmt.Errorf("--target %q: %w", c.target, err)}
	}
	return conn, nil
}

// address is the target as gRPC spells it.
func (c *client) address() (string, error) {
	if path, ok := strings.CutPrefix(c.target, "unix:"); ok && strings.Trim(path, "/") != "" {
		return c.target, nil
	}
	address := strings.TrimPrefix(strings.TrimPrefix(c.target, "tcp://"), "dns:///")
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return "", fmt.Errorf("--target %q: must be unix:///path or tcp://host:port", c.target)
	}
	return "dns:///" + address, nil // What listen calls tcp, gRPC calls dns.
}

func (c *client) credentials() (credentials.TransportCredentials, error) {
	if !c.tls() {
		return insecure.NewCredentials(), nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if (c.cert == "") != (c.key == "") {
		return nil, errors.New("--cert and --key go together")
	}
	if c.cert != "" {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fmt.Errorf("--cert, --key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	if c.ca != "" {
		pem, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert %s: no certificate in it", c.ca)
		}
	}
	return credentials.NewTLS(t), nil
}

// hint is what may help where a call failed with err. gRPC has no code for it, so that the text decides: a connection
// that was made, and then broke, is how a daemon refuses who has no certificate.
func (c *client) hint(err error) string {
	said := func(text string) bool { return strings.Contains(status.Convert(err).Message(), text) }
	switch {
	case said("does not look like a TLS handshake"):
		return "; it does not speak TLS: leave --cacert, --cert and --key out"
	case status.Code(err) != codes.Unavailable, strings.HasPrefix(c.target, "unix:"), said("while dialing"), said("handshake"):
		return ""
	case !c.tls():
		return "; where it speaks TLS, give --cacert, --cert and --key"
	case c.cert == "":
		return "; where it asks for a certificate, give --cert and --key"
	}
	return ""
}
