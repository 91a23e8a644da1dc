package s3

import (
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/walbridge/walbridge/backends"
)

// rules looks at what the bucket does to objects by itself. Looking takes permissions that the daemon itself does not
// need, so not to have them is no problem.
func (d *diagnosis) rules() bool {
	d.lifecycle()
	if !d.b.express { // a directory bucket has no versions
		d.versioning()
	}
	return true
}

func (d *diagnosis) lifecycle() {
	out, err := d.b.client.GetBucketLifecycleConfiguration(d.ctx,
		&s3.GetBucketLifecycleConfigurationInput{Bucket: &d.b.options.Bucket})
	switch {
	case code(err) == "NoSuchLifecycleConfiguration":
		d.add(Fact, "lifecycle", "the bucket has no rules")
		return
	case err != nil:
		d.unseen("lifecycle", lifecycleAction, err)
		return
	}
	before := len(d.findings)
	for _, rule := range out.Rules {
		if rule.Status == types.ExpirationStatusEnabled && overlap(rulePrefix(rule), d.b.options.Prefix) {
			d.rule(rule)
		}
	}
	if len(d.findings) == before {
		d.add(Fact, "lifecycle", "no rule touches objects before their time")
	}
}

func (d *diagnosis) rule(rule types.LifecycleRule) {
	id := aws.ToString(rule.ID)
	if e := rule.Expiration; e != nil && e.Date != nil {
		d.add(Problem, "lifecycle", "rule %q deletes everything at %v: remove it", id, *e.Date)
	} else if e != nil && e.Days != nil {
		age := time.Duration(*e.Days) * 24 * time.Hour
		switch {
		case age < d.retention:
			d.add(Problem, "lifecycle", "rule %q deletes objects after %v, and they must live %v: "+
				"remove it, or make it longer", id, age, d.retention)
		case d.retention == 0:
			d.add(Warning, "lifecycle", "rule %q deletes objects after %v: is that longer than they must live?",
				id, age)
		}
	}
	if len(rule.Transitions) > 0 {
		d.add(Problem, "lifecycle", "rule %q moves objects to another storage class, where reading them takes long: "+
			"remove it", id)
	}
}

// rulePrefix is what a rule applies to, in the three ways in which it may be said.
func rulePrefix(rule types.LifecycleRule) string {
	switch f := rule.Filter; {
	case f != nil && f.Prefix != nil:
		return *f.Prefix
	case f != nil && f.And != nil:
		return aws.ToString(f.And.Prefix)
	}
	//lint:ignore SA1019 old rules still have it
	return aws.ToString(rule.Prefix)
}

// overlap tells whether a rule for keys that start with rule can touch keys below the directory dir.
func overlap(rule, dir string) bool {
	if dir != "" {
		dir += "/"
	}
	return strings.HasPrefix(rule, dir) || strings.HasPrefix(dir, rule)
}

func (d *diagnosis) versioning() {
	out, err := d.b.client.GetBucketVersioning(d.ctx, &s3.GetBucketVersioningInput{Bucket: &d.b.options.Bucket})
	switch {
	case err != nil:
		d.unseen("versioning", versionAction, err)
	case out.Status == types.BucketVersioningStatusEnabled:
		d.add(Warning, "versioning", "it is on: every object that is deleted stays and is paid for; "+
			"suspend it, or expire noncurrent versions after a day")
	default:
		d.add(Fact, "versioning", "it is off")
	}
}

// unseen adds what could not be looked at.
func (d *diagnosis) unseen(check, action string, err error) {
	if errors.Is(classify(err), backends.ErrDenied) {
		d.add(Fact, check, "not looked at: that takes %s", action)
		return
	}
	d.add(Fact, check, "not looked at: %v", err)
}
