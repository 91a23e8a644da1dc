package config

import "net/url"

// Redact returns a zone's URL as it may be shown: without a password, and without what a role is guarded by.
func Redact(zone string) string {
	u, err := url.Parse(zone)
	if err != nil {
		return "(not a URL)"
	}
	if q := u.Query(); q.Has("external_id") {
		q.Set("external_id", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}
