package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/walbridge/walbridge/backends"
)

// Severity says how bad a Finding is.
type Severity int

// A Fact is as it should be, a Warning costs money or may cost more later, a Problem loses data or stops the zone.
const (
	Fact Severity = iota
	Warning
	Problem
)

func (s Severity) String() string { return [...]string{"ok", "warning", "problem"}[s] }

// Finding is one thing that Diagnose looked at.
type Finding struct {
	Severity Severity
	// Check is what was looked at, such as "identity" or "versioning".
	Check string
	// Detail is what was seen, and what to do where that is not as it should be.
	Detail string
}

// clockWarning is how far the clocks may differ before it is worth a line; the store refuses beyond 15 minutes.
const clockWarning = 30 * time.Second

// Diagnose looks at a zone as an operator would who asks why it does not work, or whether it will: identity, region,
// clocks, permissions, the honesty of the store, latencies, and rules of the bucket that delete or keep what they
// should not. retention is how long objects must live; 0 is not known. It writes a few small objects below
// <prefix>/doctor and deletes them. It ends with ctx at the latest and returns what it has found until then.
func Diagnose(ctx context.Context, o Options, retention time.Duration) []Finding {
	d := &diagnosis{ctx: ctx, retention: retention}
	b, err := newBucket(ctx, o)
	if err != nil {
		d.add(Problem, "configuration", "%v", err)
		return d.findings
	}
	defer b.Close()
	d.b = b
	for _, look := range []func() (more bool){d.identity, d.place, d.session, d.objects, d.rules} {
		if !look() {
			break
		}
	}
	return d.findings
}

// diagnosis collects findings. Its steps say whether the next one makes sense.
type diagnosis struct {
	ctx       context.Context
	b         *Bucket
	retention time.Duration
	findings  []Finding
}

func (d *diagnosis) add(s Severity, check, format string, args ...any) {
	d.findings = append(d.findings, Finding{s, check, fmt.Sprintf(format, args...)})
}

// identity says who the requests come from. Amazon tells the name of it to anybody; other servers do not know the call.
func (d *diagnosis) identity() bool {
	c, err := d.b.base.Retrieve(d.ctx)
	if err != nil {
		d.add(Problem, "identity", "no credentials in the environment, the profile, or from the host: %v", err)
		return false
	}
	who := fmt.Sprintf("access key %s from %s", c.AccessKeyID, c.Source)
	if d.b.options.Endpoint == "" {
		service := sts.NewFromConfig(d.b.config, func(o *sts.Options) { o.Credentials = d.b.base })
		out, err := service.GetCallerIdentity(d.ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			who += fmt.Sprintf(" (its name could not be asked for: %v)", err)
		} else {
			who += ", " + aws.ToString(out.Arn)
		}
	}
	d.add(Fact, "identity", "%s", who)
	return true
}

// place says where and what the bucket is, and how the clocks compare.
func (d *diagnosis) place() bool {
	kind := "plain S3: requests take some 100 ms, S3 Express One Zone some 5 ms"
	if id, express := zoneID(d.b.options.Bucket); express {
		kind = "S3 Express One Zone in zone " + id
	} else if d.b.options.Endpoint != "" {
		kind = "an S3 server at " + d.b.options.Endpoint
	}
	d.add(Fact, "bucket", "%s, %s, region %s", d.b.options.Bucket, kind, d.b.config.Region)
	if d.b.express {
		return true // all that its requests say they say with a session
	}
	return d.head()
}

// head asks for the bucket.
func (d *diagnosis) head() bool {
	var out *s3.HeadBucketOutput
	err := d.b.do(d.ctx, func(ctx context.Context) (err error) {
		out, err = d.b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &d.b.options.Bucket})
		return err
	})
	d.clocks(out)
	switch region := elsewhere(err); {
	case region != "" && region != d.b.config.Region:
		d.add(Problem, "region", "the bucket is in %s, the zone's URL says %s", region, d.b.config.Region)
	case errors.Is(err, backends.ErrNotFound):
		d.add(Problem, "bucket", "there is no bucket %s in region %s", d.b.options.Bucket, d.b.config.Region)
	case errors.Is(err, backends.ErrDenied):
		d.denied("reach the bucket", listAction, err)
	case err != nil:
		d.add(Problem, "bucket", "not reachable: %v", err)
	default:
		return true
	}
	return false
}

// clocks compares the clocks: by what the store has refused, or by the answer.
func (d *diagnosis) clocks(out *s3.HeadBucketOutput) {
	ahead := time.Duration(d.b.clock.ahead.Load())
	if out != nil {
		theirs, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
		ours, ok2 := awsmiddleware.GetResponseAt(out.ResultMetadata)
		if ok && ok2 {
			ahead = theirs.Sub(ours)
		}
	}
	switch {
	case ahead.Abs() > skewTolerance:
		d.add(Problem, "clock", "the store's clock is %v ahead of this host's: set up NTP", ahead.Round(time.Second))
	case ahead.Abs() > clockWarning:
		d.add(Warning, "clock", "the store's clock is %v ahead of this host's: set up NTP", ahead.Round(time.Second))
	default:
		d.add(Fact, "clock", "within %v of the store's", clockWarning)
	}
}

// session makes the session of a directory bucket, on which everything else depends.
func (d *diagnosis) session() bool {
	if !d.b.express {
		return true
	}
	start := time.Now()
	_, err := d.b.credentials.Retrieve(d.ctx)
	switch {
	case errors.Is(err, backends.ErrDenied):
		d.denied("make a session", sessionAction, err)
		return false
	case err != nil:
		d.add(Problem, "session", "%v", err)
		return false
	}
	d.add(Fact, "session", "made in %v", time.Since(start).Round(time.Millisecond))
	return d.head()
}

// The actions of IAM, as a policy names them.
const (
	sessionAction   = "s3express:CreateSession"
	putAction       = "s3:PutObject"
	getAction       = "s3:GetObject"
	listAction      = "s3:ListBucket"
	deleteAction    = "s3:DeleteObject"
	lifecycleAction = "s3:GetLifecycleConfiguration"
	versionAction   = "s3:GetBucketVersioning"
)

// denied adds a permission that is missing. A directory bucket has one for all that is done to objects.
func (d *diagnosis) denied(to, action string, err error) {
	if d.b.express {
		action = sessionAction + " in mode ReadWrite"
	}
	d.add(Problem, "permission", "%s is missing, to %s: %v", action, to, err)
}
