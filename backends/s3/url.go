package s3

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/walbridge/walbridge/backends"
)

// maxPrefix leaves room for a name: a key has 1,024 bytes at most.
const maxPrefix = 1024 - backends.MaxName - 1

// parameters are what a zone's URL may say, and where it goes.
var parameters = map[string]func(o *Options) *string{
	"region":      func(o *Options) *string { return &o.Region },
	"endpoint":    func(o *Options) *string { return &o.Endpoint },
	"profile":     func(o *Options) *string { return &o.Profile },
	"role_arn":    func(o *Options) *string { return &o.RoleARN },
	"external_id": func(o *Options) *string { return &o.ExternalID },
	"kms_key":     func(o *Options) *string { return &o.KMSKey },
}

// metadataParameter starts the parameters that become metadata of every object: meta.cluster=c1.
const metadataParameter = "meta."

// ParseURL returns the Options that a zone's URL stands for: s3://bucket/prefix?region=…, where prefix and parameters
// may be left out. The parameters are region, endpoint, profile, role_arn, external_id, kms_key, and meta.<key> for
// metadata stored with every object.
func ParseURL(zone string) (Options, error) {
	u, err := url.Parse(zone)
	if err != nil {
		return Options{}, err
	}
	o := Options{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		return Options{}, fmt.Errorf("zone %q: %w", zone, err)
	case u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Port() != "":
		return Options{}, fmt.Errorf("zone %q: must be s3://bucket/prefix?region=…", u.Redacted())
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		if err := o.set(key, query[key]); err != nil {
			return Options{}, fmt.Errorf("zone %q: %w", zone, err)
		}
	}
	if err := o.validate(); err != nil {
		return Options{}, fmt.Errorf("zone %q: %w", zone, err)
	}
	return o, nil
}

func (o *Options) set(key string, values []string) error {
	if len(values) != 1 || values[0] == "" {
		return fmt.Errorf("parameter %s: must be there once, with a value", key)
	}
	if name, ok := strings.CutPrefix(key, metadataParameter); ok && name != "" {
		if o.Metadata == nil {
			o.Metadata = make(map[string]string)
		}
		o.Metadata[name] = values[0]
		return nil
	}
	field, ok := parameters[key]
	if !ok {
		return fmt.Errorf("unknown parameter %s: must be one of %s, %s<key>", key,
			strings.Join(slices.Sorted(maps.Keys(parameters)), ", "), metadataParameter)
	}
	*field(o) = values[0]
	return nil
}

func (o *Options) validate() error {
	if o.Bucket == "" {
		return errors.New("no bucket")
	}
	if err := backends.CheckDir(o.Prefix); err != nil {
		return fmt.Errorf("prefix: %w", err)
	}
	if len(o.Prefix) > maxPrefix {
		return fmt.Errorf("prefix: %d bytes, at most %d", len(o.Prefix), maxPrefix)
	}
	if o.ExternalID != "" && o.RoleARN == "" {
		return errors.New("external_id without role_arn")
	}
	for key, value := range o.Metadata {
		if !printable(key) || !printable(value) || strings.EqualFold(key, stampKey) {
			return fmt.Errorf("metadata %q: %q: must be printable ASCII, under a key that is not the store's own",
				key, value)
		}
	}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return fmt.Errorf("endpoint %q: must be http://host:port or https://host:port", o.Endpoint)
		}
	}
	return nil
}

// printable tells whether s can be the value of a header.
func printable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

const directorySuffix = "--x-s3"

// zoneID returns the id of the zone that a directory bucket lies in; there is none where the bucket is another one.
func zoneID(bucket string) (id string, express bool) {
	base, express := strings.CutSuffix(bucket, directorySuffix)
	at := strings.LastIndex(base, "--")
	if !express || at < 1 {
		return "", false
	}
	return base[at+2:], true
}
