package s3_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/backends/s3/s3test"
)

func rules(expiry string) string {
	return `<LifecycleConfiguration><Rule><ID>tidy</ID><Status>Enabled</Status>` + expiry +
		`</Rule></LifecycleConfiguration>`
}

// Each thing that is wrong with a directory bucket is found, and said with what is needed to put it right; and a bucket
// with nothing wrong has no such finding.
func TestDiagnoseExpress(t *testing.T) {
	const twoDays = 48 * time.Hour
	const oneDay = `<Expiration><Days>1</Days></Expiration>`
	for name, tc := range map[string]struct {
		server    s3test.Options
		fault     s3test.Fault
		retention time.Duration
		severity  s3.Severity
		want      string // part of "check: detail"
	}{
		"healthy":   {severity: s3.Fact, want: "zone use1-az4"},
		"session":   {severity: s3.Fact, want: "session: made in"},
		"identity":  {severity: s3.Fact, want: "identity: access key " + s3test.AccessKey},
		"latencies": {severity: s3.Fact, want: "write 256 KiB: took "},
		"no session": {
			fault:    s3test.Fault{Op: s3test.CreateSession, Kind: s3test.Denied},
			severity: s3.Problem, want: "permission: s3express:CreateSession in mode ReadWrite is missing",
		},
		"read only": {
			fault:    s3test.Fault{Op: s3test.PutObject, Kind: s3test.Denied},
			severity: s3.Problem, want: "permission: s3express:CreateSession in mode ReadWrite is missing",
		},
		"other region": {
			fault:    s3test.Fault{Op: s3test.HeadBucket, Kind: s3test.Moved},
			severity: s3.Problem, want: "region: the bucket is in eu-west-1",
		},
		"clock": {
			server:   s3test.Options{Skew: -time.Hour},
			severity: s3.Problem, want: "clock: the store's clock is -1h0m",
		},
		"careless with names": {
			fault:    s3test.Fault{Op: s3test.PutObject, Kind: s3test.Careless},
			severity: s3.Problem, want: "conditional writes: a second write",
		},
		"careless with bytes": {
			fault:    s3test.Fault{Op: s3test.PutObject, Kind: s3test.Careless},
			severity: s3.Problem, want: "checksums: a write with a wrong checksum",
		},
		"expires": {
			server:    s3test.Options{Lifecycle: rules(`<Filter><Prefix>wal/</Prefix></Filter>` + oneDay)},
			retention: twoDays, severity: s3.Problem, want: `lifecycle: rule "tidy" deletes objects after 24h0m0s`,
		},
		"expires, retention not known": {
			server:   s3test.Options{Lifecycle: rules(`<Prefix/>` + oneDay)},
			severity: s3.Warning, want: `lifecycle: rule "tidy"`,
		},
		"expires later": {
			server:    s3test.Options{Lifecycle: rules(`<Prefix/><Expiration><Days>3</Days></Expiration>`)},
			retention: twoDays, severity: s3.Fact, want: "lifecycle: no rule",
		},
		"expires elsewhere": {
			server:    s3test.Options{Lifecycle: rules(`<Filter><Prefix>logs/</Prefix></Filter>` + oneDay)},
			retention: twoDays, severity: s3.Fact, want: "lifecycle: no rule",
		},
		"rules not to be seen": {
			fault:    s3test.Fault{Op: s3test.GetLifecycle, Kind: s3test.Denied},
			severity: s3.Fact, want: "lifecycle: not looked at",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startExpress(t, tc.server)
			if tc.fault.Kind != s3test.None {
				tc.fault.Times = -1
				server.Inject(tc.fault)
			}
			findings := s3.Diagnose(within(t, 20*time.Second), options(server), tc.retention)
			wantFinding(t, findings, tc.severity, tc.want)
			if keys := server.Keys(); len(keys) > 0 {
				t.Errorf("it left %q behind", keys)
			}
		})
	}
}

// wantFinding checks that what is wanted is there, and nothing worse.
func wantFinding(t *testing.T, findings []s3.Finding, severity s3.Severity, want string) {
	t.Helper()
	found := false
	for _, f := range findings {
		found = found || f.Severity == severity && strings.Contains(f.Check+": "+f.Detail, want)
		if f.Severity > severity {
			t.Errorf("worse than %v: %v %s: %s", severity, f.Severity, f.Check, f.Detail)
		}
	}
	if !found {
		t.Errorf("no %v with %q among %v", severity, want, findings)
	}
}

func TestDiagnoseWithoutCredentials(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	environment(t, "", "")
	wantFinding(t, s3.Diagnose(within(t, 10*time.Second), options(server), 0), s3.Problem, "identity: no credentials")
}

// Of plain S3 it is said which action is missing.
func TestDiagnoseDenied(t *testing.T) {
	environment(t, "key", "secret")
	for method, action := range map[string]string{
		http.MethodHead: "s3:ListBucket", http.MethodPut: "s3:PutObject", http.MethodGet: "s3:GetObject",
	} {
		store := map[string]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == method:
				w.WriteHeader(http.StatusForbidden)
			case r.Method == http.MethodPut && store[r.URL.Path]:
				w.WriteHeader(http.StatusPreconditionFailed)
			case r.Method == http.MethodPut:
				store[r.URL.Path] = true
			}
		}))
		defer server.Close()
		o := s3.Options{Bucket: "b", Endpoint: server.URL, WarmConnections: -1}
		found := false
		for _, f := range s3.Diagnose(within(t, 10*time.Second), o, 0) {
			found = found || f.Severity == s3.Problem && strings.Contains(f.Detail, action+" is missing")
		}
		if !found {
			t.Errorf("a %s that is refused: no finding that names %s", method, action)
		}
	}
}

// A real server, with versions and a rule.
func TestDiagnoseS3Mock(t *testing.T) {
	server := startS3Mock(t, "zone-b")
	o := parse(t, zoneURL("zone-b", "wal", server.URL()))
	findings := s3.Diagnose(within(t, time.Minute), o, time.Hour)
	wantFinding(t, findings, s3.Fact, "conditional writes: a name that is taken is refused")
	wantFinding(t, findings, s3.Fact, "versioning: it is off")

	client := sdk.New(sdk.Options{
		BaseEndpoint: aws.String(server.URL()), UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""),
	})
	if _, err := client.PutBucketVersioning(t.Context(), &sdk.PutBucketVersioningInput{
		Bucket:                  aws.String("zone-b"),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutBucketLifecycleConfiguration(t.Context(), &sdk.PutBucketLifecycleConfigurationInput{
		Bucket: aws.String("zone-b"),
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
			ID: aws.String("tidy"), Status: types.ExpirationStatusEnabled,
			Filter:     &types.LifecycleRuleFilter{Prefix: aws.String("")},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, s3.Diagnose(within(t, time.Minute), o, time.Hour), s3.Warning, "versioning: it is on")
	wantFinding(t, s3.Diagnose(within(t, time.Minute), o, 48*time.Hour), s3.Problem, `lifecycle: rule "tidy"`)
}
