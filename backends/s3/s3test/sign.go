package s3test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	service         = "s3express"
	dateFormat      = "20060102T150405Z"
	largestSkew     = 15 * time.Minute
	sessionHeader   = "X-Amz-S3session-Token"
	payloadHeader   = "X-Amz-Content-Sha256"
	unsignedPayload = "UNSIGNED-PAYLOAD"
)

var (
	tooSkewed    = &apiError{http.StatusForbidden, "RequestTimeTooSkewed", "The request time differs too much."}
	badSignature = &apiError{http.StatusForbidden, "SignatureDoesNotMatch", "The signature is another one."}
	badKey       = &apiError{http.StatusForbidden, "InvalidAccessKeyId", "There is no such key."}
	badToken     = &apiError{http.StatusBadRequest, "InvalidToken", "There is no such session."}
	expired      = &apiError{http.StatusBadRequest, "ExpiredToken", "The provided token has expired."}
)

// authenticate checks who signed the request, with what, and when.
func (s *Server) authenticate(r *http.Request, q request) *apiError {
	at, err := time.Parse(dateFormat, r.Header.Get("X-Amz-Date"))
	if err != nil {
		s.options.Complain("s3test: %s has no date: %v", q.op, err)
		return badSignature
	}
	if skew := s.now().Sub(at); skew.Abs() > largestSkew {
		return tooSkewed
	}
	a, err := parseAuthorization(r.Header.Get("Authorization"))
	if err != nil || a.scope[1] != Region || a.scope[2] != service {
		s.options.Complain("s3test: %s is not signed for %s in %s: %q (%v)", q.op, service, Region, a.scope, err)
		return badSignature
	}
	secret, e := s.secret(r, q, a.key)
	if e != nil {
		return e
	}
	if err := checkSignature(r, secret, a, at); err != nil {
		s.options.Complain("s3test: %s: %v", q.op, err)
		return badSignature
	}
	return nil
}

// secret finds what a request should be signed with: CreateSession with the long-term credentials, what is about
// objects with a session, and the bucket's configuration with either, since with an endpoint of its own the SDK takes a
// session.
func (s *Server) secret(r *http.Request, q request, key string) (aws.Credentials, *apiError) {
	token := r.Header.Get(sessionHeader)
	if q.op == CreateSession || token == "" {
		bucket := q.op == CreateSession || q.op == GetLifecycle
		if !bucket {
			s.options.Complain("s3test: %s without a session", q.op)
		}
		if key != AccessKey || !bucket {
			return aws.Credentials{}, badKey
		}
		return aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.sessions[token]
	switch {
	case !ok || found.credentials.AccessKeyID != key:
		return aws.Credentials{}, badToken
	case !s.now().Before(found.expires):
		return aws.Credentials{}, expired
	}
	return found.credentials, nil
}

type authorization struct {
	key    string
	scope  []string // date, region, service, aws4_request
	signed []string
	whole  string
}

func parseAuthorization(header string) (a authorization, err error) {
	a = authorization{whole: header, scope: make([]string, 4)}
	rest, ok := strings.CutPrefix(header, "AWS4-HMAC-SHA256 Credential=")
	parts := strings.Split(rest, ", ")
	if !ok || len(parts) != 3 {
		return a, fmt.Errorf("the Authorization is %q", header)
	}
	scope := strings.Split(parts[0], "/")
	if len(scope) != 5 {
		return a, fmt.Errorf("the credential of the Authorization is %q", parts[0])
	}
	a.key, a.scope = scope[0], scope[1:]
	a.signed = strings.Split(strings.TrimPrefix(parts[1], "SignedHeaders="), ";")
	return a, nil
}

// checkSignature signs the headers that the caller signed once more.
func checkSignature(r *http.Request, c aws.Credentials, a authorization, at time.Time) error {
	again := &http.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, ContentLength: r.ContentLength, Header: make(http.Header),
	}
	for _, name := range a.signed {
		if values := r.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	payload := r.Header.Get(payloadHeader)
	if err := checkPayload(r, payload); err != nil {
		return err
	}
	err := v4.NewSigner().SignHTTP(context.Background(), c, again, payload, a.scope[2], a.scope[1], at,
		func(o *v4.SignerOptions) {
			o.DisableURIPathEscaping = true
			o.DisableSessionToken = true
		})
	if got := again.Header.Get("Authorization"); err != nil || got != a.whole {
		return fmt.Errorf("signature: %q, should be %q (%v)", a.whole, got, err)
	}
	return nil
}

// checkPayload checks a body that is part of the signature; those are small.
func checkPayload(r *http.Request, payload string) error {
	if payload == unsignedPayload {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != payload {
		return fmt.Errorf("%s: %q, but the body has %x", payloadHeader, payload, sum)
	}
	return nil
}
