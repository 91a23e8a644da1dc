package frame

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
)

const sampleName = "5L6g3nShT-eMCtK--X86sw/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY"

func TestName(t *testing.T) {
	if got := sampleObject.Name(sampleIdentity.ClusterID); got != sampleName {
		t.Errorf("Name = %q, want %q", got, sampleName)
	}
	cluster, id, err := ParseName(sampleName)
	if cluster != sampleIdentity.ClusterID || id != sampleObject || err != nil {
		t.Errorf("ParseName = %q, %v, %v", cluster, id, err)
	}
}

func TestNamesAtTheLimits(t *testing.T) {
	last := ObjectID{Broker: math.MaxInt32, Incarnation: math.MaxUint32}
	if err := last.ULID.SetTime(maxTime - 1); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ObjectID{{}, last} {
		name := id.Name(strings.Repeat("c", maxCluster))
		if err := backends.CheckName(name); err != nil {
			t.Error(err)
		}
		if _, got, err := ParseName(name); got != id || err != nil {
			t.Errorf("ParseName(%q) = %v, %v, want %v", name, got, err, id)
		}
	}
}

func TestDirectoriesAreThoseOfTheName(t *testing.T) {
	cluster, minute := sampleIdentity.ClusterID, ulid.Time(sampleObject.ULID.Time())
	elsewhere := minute.In(time.FixedZone("", 5*3600+1800))
	for _, dir := range []string{
		Dir(cluster, 1),
		IncarnationDir(cluster, 1, 7),
		MinuteDir(cluster, 1, 7, minute),
		MinuteDir(cluster, 1, 7, elsewhere),
	} {
		if !strings.HasPrefix(sampleName, dir+"/") {
			t.Errorf("%q is not a directory of %q", dir, sampleName)
		}
	}
}

func TestParseNameIsStrict(t *testing.T) {
	for _, name := range []string{
		"",
		"c/1/0000000007/20261130T1407",
		"/c" + sampleName,
		sampleName + "/",
		"/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c c/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		".c/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		strings.Repeat("c", maxCluster+1) + "/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/-1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/+1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/01/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/2147483648/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/1/7/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/1/4294967296/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXY",
		"c/1/0000000007/20261130T1408/01M8PCG6H3E9J2M6N0PR4TVWXY", // not the ULID's minute
		"c/1/0000000007/20261130T1407/01m8pcg6h3e9j2m6n0pr4tvwxy",
		"c/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWX",
		"c/1/0000000007/20261130T1407/01M8PCG6H3E9J2M6N0PR4TVWXU", // no letter U in a ULID
		"c/1/0000000007/108890802T0531/7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
	} {
		if cluster, id, err := ParseName(name); err == nil {
			t.Errorf("ParseName(%q) = %q, %v, want an error", name, cluster, id)
		}
	}
}

func TestCheckCluster(t *testing.T) {
	for _, cluster := range []string{"", "a/b", "..", "a b", strings.Repeat("c", maxCluster+1)} {
		if _, ok := errors.AsType[*InvalidError](CheckCluster(cluster)); !ok {
			t.Errorf("CheckCluster(%q) is no *InvalidError", cluster)
		}
	}
}
