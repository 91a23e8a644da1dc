package s3_test

import (
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/backends/s3/s3test"
)

// startExpress starts a directory bucket that fails the test for a request that is not right, and puts the credentials
// where the SDK looks for them.
func startExpress(t *testing.T, o s3test.Options) *s3test.Server {
	t.Helper()
	environment(t, s3test.AccessKey, s3test.SecretKey)
	o.Complain = t.Errorf
	s, err := s3test.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// environment hides the machine's own configuration.
func environment(t *testing.T, accessKey, secretKey string) {
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_ENDPOINT_URL": "",
		"AWS_CONFIG_FILE": t.TempDir() + "/none", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none",
		"AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(key, value)
	}
}

func options(s *s3test.Server) s3.Options {
	return s3.Options{Bucket: s.Bucket(), Endpoint: s.URL(), Region: s3test.Region, Prefix: "wal/test"}
}

func open(t *testing.T, o s3.Options) *s3.Bucket {
	t.Helper()
	b, err := s3.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openExpress(t *testing.T, s *s3test.Server) *s3.Bucket {
	t.Helper()
	b := open(t, options(s))
	t.Cleanup(func() { b.Close() })
	return b
}

func TestConformanceExpress(t *testing.T) {
	for name, prefix := range map[string]string{"prefix": "wal/test", "no prefix": ""} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T) backends.Bucket {
				o := options(startExpress(t, s3test.Options{PageSize: 7}))
				o.Prefix = prefix
				return open(t, o)
			})
		})
	}
}
