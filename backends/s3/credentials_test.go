package s3_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends/s3/s3test"
)

// Keys that were rotated on the host are found out by a refusal, long before they would have been renewed.
func TestRotatedKeys(t *testing.T) {
	dir := t.TempDir()
	keys, config := filepath.Join(dir, "keys"), filepath.Join(dir, "config")
	rotate := func(accessKey, secretKey string) {
		text := fmt.Sprintf(`{"Version": 1, "AccessKeyId": %q, "SecretAccessKey": %q}`, accessKey, secretKey)
		if err := os.WriteFile(keys, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	rotate("OLDKEY", "old")
	profile := fmt.Sprintf("[profile host]\ncredential_process = cat %s\n", keys)
	if err := os.WriteFile(config, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused sync.Once
	server := startExpress(t, s3test.Options{Observe: func(op string, _, _ time.Time) {
		if op == s3test.CreateSession {
			refused.Do(func() { rotate(s3test.AccessKey, s3test.SecretKey) })
		}
	}})
	environment(t, "", "")
	t.Setenv("AWS_CONFIG_FILE", config)
	o := options(server)
	o.Profile = "host"
	b := open(t, o)
	defer b.Close()
	mustPut(t, b, "rotated", []byte("x"))
	if n := server.Calls(s3test.CreateSession); n < 2 {
		t.Errorf("%d sessions were asked for: the old keys were not used", n)
	}
}

// A role is assumed with the credentials found, and named in the log.
func TestAssumeRole(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/walbridge"
	var form string
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		form = body.String()
		fmt.Fprintf(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId>
			<SecretAccessKey>%s</SecretAccessKey><SessionToken>token</SessionToken>
			<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			s3test.AccessKey, s3test.SecretKey)
	}))
	defer sts.Close()
	server := startExpress(t, s3test.Options{})
	environment(t, "USERKEY", "user")
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	var log bytes.Buffer
	o := options(server)
	o.RoleARN, o.ExternalID, o.Logger = role, "external", slog.New(slog.NewTextHandler(&log, nil))
	b := open(t, o)
	mustPut(t, b, "assumed", []byte("x"))
	b.Close()
	if !strings.Contains(form, "ExternalId=external") || !strings.Contains(form, "RoleSessionName=walbridge") {
		t.Errorf("STS was asked for %q", form)
	}
	if text := log.String(); !strings.Contains(text, role) || !strings.Contains(text, "AssumeRoleProvider") {
		t.Errorf("the log does not say which role:\n%s", text)
	}
}
