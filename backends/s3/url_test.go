package s3

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	for zone, want := range map[string]Options{
		"s3://b": {Bucket: "b"},
		"s3://walbridge--use1-az4--x-s3/a/b/?region=us-east-1": {
			Bucket: "walbridge--use1-az4--x-s3", Prefix: "a/b", Region: "us-east-1",
		},
		"s3://b?endpoint=http%3A%2F%2F127.0.0.1%3A7070&profile=p&kms_key=k&role_arn=r&external_id=x&meta.broker=1": {
			Bucket: "b", Endpoint: "http://127.0.0.1:7070", Profile: "p", KMSKey: "k", RoleARN: "r", ExternalID: "x",
			Metadata: map[string]string{"broker": "1"},
		},
	} {
		got, err := ParseURL(zone)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", zone, got, err, want)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for zone, want := range map[string]string{
		"s3:///prefix":                       "s3://bucket/prefix",
		"s3://key:secret@b":                  "s3://bucket/prefix",
		"file:///srv":                        "s3://bucket/prefix",
		"s3://b:80":                          "s3://bucket/prefix",
		"s3://b/a/../c":                      "prefix",
		"s3://b/a//c":                        "prefix",
		"s3://b/" + strings.Repeat("p", 512): "prefix",
		"s3://b?regoin=x":                    "regoin: must be one of endpoint, external_id, kms_key",
		"s3://b?region=":                     "region",
		"s3://b?region=a&region=b":           "region",
		"s3://b?endpoint=127.0.0.1:7070":     "http://host:port",
		"s3://b?external_id=x":               "role_arn",
		"s3://b?meta.=x":                     "unknown parameter",
		"s3://b?meta.Walbridge=x":            "not the store's own",
		"s3://b?meta.a=b%0Ac":                "printable",
	} {
		if _, err := ParseURL(zone); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one with %q", zone, err, want)
		}
	}
	if _, err := ParseURL("s3://key:secret@b"); err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows a secret: %v", err)
	}
}

func TestZoneID(t *testing.T) {
	for bucket, want := range map[string]string{
		"walbridge--use1-az4--x-s3": "use1-az4", "a--b--use1-az4--x-s3": "use1-az4", "walbridge": "", "a--x-s3": "",
		"--x-s3": "", "use1-az4--x-s3-no": "",
	} {
		if id, express := zoneID(bucket); id != want || express != (want != "") {
			t.Errorf("%s: %q, %v, want %q", bucket, id, express, want)
		}
	}
}
