package daemoncases

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key}, err
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.certificate)
	return p
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// issue returns a certificate and its key in PEM.
func (a *authority) issue(serial int64) (certificate, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "walbridge"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, k.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(k)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), err
}

// ask asks a daemon for its status over TLS and returns its certificate's serial number.
func ask(ctx context.Context, address string, trust *authority, own []tls.Certificate) (serial int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	seen := make(chan int64, 16)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: trust.pool(), Certificates: own, MinVersion: tls.VersionTLS13,
		VerifyConnection: func(s tls.ConnectionState) error {
			select {
			case seen <- s.PeerCertificates[0].SerialNumber.Int64():
			default:
			}
			return nil
		},
	})))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := walbridgev1.NewWalServiceClient(conn).GetStatus(ctx, &walbridgev1.GetStatusRequest{}); err != nil {
		return 0, err
	}
	return <-seen, nil
}

// mutualTLS: TCP lets in who has a certificate that client_ca signed, and nobody else; new files are in force on SIGHUP,
// and files that do not belong together change nothing.
func mutualTLS(ctx context.Context, r *rig) error {
	server, err := newAuthority("servers")
	if err != nil {
		return err
	}
	brokers, err := newAuthority("brokers")
	if err != nil {
		return err
	}
	later, err := newAuthority("later brokers")
	if err != nil {
		return err
	}
	write := func(serial int64, clients *authority) error {
		certificate, key, err := server.issue(serial)
		return errors.Join(err, os.WriteFile(r.path("d.pem"), certificate, 0o600), os.WriteFile(r.path("d.key"), key, 0o600),
			os.WriteFile(r.path("ca.pem"), clients.pem(), 0o600))
	}
	client := func(a *authority) ([]tls.Certificate, error) {
		certificate, key, err := a.issue(7)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(certificate, key)
		return []tls.Certificate{pair}, err
	}
	if err := write(100, brokers); err != nil {
		return err
	}
	address := freePort()
	text := strings.Replace(r.configuration(fmt.Sprintf("tls: {certificate: %s, key: %s, client_ca: %s}\n", r.path("d.pem"),
		r.path("d.key"), r.path("ca.pem"))), r.target(), "tcp://"+address, 1)
	p, err := r.start(ctx, text)
	if err != nil {
		return err
	}
	old, err := client(brokers)
	if err != nil {
		return err
	}
	fresh, err := client(later)
	if err != nil {
		return err
	}
	expect := func(who string, own []tls.Certificate, want int64) error {
		got, err := ask(ctx, address, server, own)
		if want == 0 && err == nil {
			return fmt.Errorf("%s was let in", who)
		}
		if want != 0 && (err != nil || got != want) {
			return fmt.Errorf("%s: certificate %d and %w, want %d", who, got, err, want)
		}
		return nil
	}
	if err := errors.Join(expect("nobody", nil, 0), expect("a stranger", fresh, 0), expect("a broker", old, 100)); err != nil {
		return err
	}
	if err := commandsOverTLS(ctx, r, address, server, brokers); err != nil {
		return err
	}
	if err := write(101, later); err != nil {
		return err
	}
	if err := syscall.Kill(p.PID(), syscall.SIGHUP); err != nil {
		return err
	}
	if err := r.awaitLog(ctx, p, "msg=reloaded"); err != nil {
		return err
	}
	if err := errors.Join(expect("a broker of before", old, 0), expect("a later broker", fresh, 101)); err != nil {
		return err
	}
	if err := os.WriteFile(r.path("d.key"), []byte("no key"), 0o600); err != nil {
		return err
	}
	if err := syscall.Kill(p.PID(), syscall.SIGHUP); err != nil {
		return err
	}
	if err := r.awaitLog(ctx, p, "not reloaded, nothing changed", "tls.key"); err != nil {
		return err
	}
	return expect("a later broker, with a broken key file", fresh, 101)
}

// commandsOverTLS: status and doctor reach the daemon with a client's certificate, and say what is missing without.
func commandsOverTLS(ctx context.Context, r *rig, address string, server, brokers *authority) error {
	certificate, key, err := brokers.issue(8)
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(r.path("me.pem"), certificate, 0o600), os.WriteFile(r.path("me.key"), key, 0o600),
		os.WriteFile(r.path("servers.pem"), server.pem(), 0o600))
	if err != nil {
		return err
	}
	status := []string{"status", "--target", "tcp://" + address, "--timeout", "5s"}
	doctor := []string{"doctor", "--config", r.path("w.yaml")}
	trust := []string{"--cacert", r.path("servers.pem")}
	all := slices.Concat(trust, []string{"--cert", r.path("me.pem"), "--key", r.path("me.key")})
	return errors.Join(
		r.expect(ctx, 0, slices.Concat(status, all), "broker 1 of cluster cluster"),
		r.expect(ctx, 1, status, "--cacert, --cert and --key"),
		r.expect(ctx, 1, slices.Concat(status, trust), "give --cert and --key"),
		r.expect(ctx, 1, slices.Concat(status, all[2:]), "certificate"), // The system's authorities do not know it.
		r.expect(ctx, 2, slices.Concat(status, all[:4]), "--cert and --key go together"),
		r.expect(ctx, 2, slices.Concat(status, []string{"--cacert", r.path("me.key")}), "no certificate in it"),
		r.expect(ctx, 0, slices.Concat(doctor, all), "answers within", "warning  certificates", "ends in", "reload the daemon"),
		r.expect(ctx, 0, doctor, "warning  daemon: not asked", "--cacert, --cert and --key"),
	)
}
