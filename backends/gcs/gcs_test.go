package gcs_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/gcs/gcstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a fake with a zonal bucket "zonal" and a regional bucket "regional".
func start(t testing.TB, o gcstest.Options) *gcstest.Server {
	t.Helper()
	o.Zonal, o.Regional = []string{"zonal"}, []string{"regional"}
	s, err := gcstest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func open(t testing.TB, s *gcstest.Server, o gcs.Options) *gcs.Bucket {
	t.Helper()
	o.ClientOptions = s.ClientOptions()
	b, err := gcs.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]struct {
		server gcstest.Options
		bucket gcs.Options
	}{
		"zonal":                    {bucket: gcs.Options{Bucket: "zonal"}},
		"zonal with prefix":        {bucket: gcs.Options{Bucket: "zonal", Prefix: "a/b"}},
		"zonal, keeps unfinalized": {gcstest.Options{KeepUnfinalized: true}, gcs.Options{Bucket: "zonal"}},
		"regional":                 {bucket: gcs.Options{Bucket: "regional"}},
		"regional with prefix":     {bucket: gcs.Options{Bucket: "regional", Prefix: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T) backends.Bucket {
				b := open(t, start(t, c.server), c.bucket)
				t.Cleanup(func() { _ = b.Close() }) // A check that is skipped does not come to it.
				return b
			})
		})
	}
}
