package gcstest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// service describes google.storage.v2.Storage by hand; generated code would need the SDK's internal types.
var service = grpc.ServiceDesc{
	ServiceName: "google.storage.v2.Storage",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{
		unary("GetBucket", "GetBucketRequest", (*Server).getBucket),
		unary("GetObject", "GetObjectRequest", (*Server).getObject),
		unary("ListObjects", "ListObjectsRequest", (*Server).listObjects),
		unary("DeleteObject", "DeleteObjectRequest", (*Server).deleteObject),
	},
	Streams: []grpc.StreamDesc{
		stream("BidiWriteObject", (*Server).bidiWrite),
		stream("BidiReadObject", (*Server).bidiRead),
		stream("ReadObject", (*Server).readObject),
	},
}

func unary(name, request string, handle func(*Server, context.Context, message) (message, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(
		srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
	) (any, error) {
		req := newMessage(request)
		if err := decode(req.Interface()); err != nil {
			return nil, err
		}
		resp, err := handle(srv.(*Server), ctx, req)
		if err != nil {
			return nil, err
		}
		return resp.Interface(), nil
	}}
}

func stream(name string, handle func(*Server, grpc.ServerStream) error) grpc.StreamDesc {
	return grpc.StreamDesc{
		StreamName: name, ServerStreams: true, ClientStreams: true,
		Handler: func(srv any, stream grpc.ServerStream) error {
			if err := handle(srv.(*Server), stream); !errors.Is(err, errEnd) {
				return err
			}
			return nil
		},
	}
}

// call is around for a call without a stream, which cannot end early and succeeds instead.
func (s *Server) call(ctx context.Context, op Op, name string, do func() error) error {
	if err := s.around(ctx, op, name, do); !errors.Is(err, errEnd) {
		return err
	}
	return nil
}

func (s *Server) getBucket(ctx context.Context, req message) (message, error) {
	resp := newMessage("Bucket")
	err := s.call(ctx, Get, req.string("name"), func() error {
		b, err := s.find(req.string("name"))
		if err != nil {
			return err
		}
		resp.set("name", req.string("name")).set("bucket_id", b.name)
		if b.zonal {
			resp.set("location", "US-EAST1").set("location_type", "zone").set("storage_class", "RAPID")
		} else {
			resp.set("location", "US-EAST1").set("location_type", "region").set("storage_class", "STANDARD")
		}
		return nil
	})
	return resp, err
}

func (s *Server) getObject(ctx context.Context, req message) (resp message, err error) {
	resp = newMessage("Object")
	err = s.call(ctx, Get, req.string("object"), func() error {
		o, err := s.get(req.string("bucket"), req.string("object"))
		if err == nil {
			resp = o.metadata()
		}
		return err
	})
	return resp, err
}

// maxPage is how many objects one page has at most.
const maxPage = 1000

// listObjects pages by name: a token is the last name of its page.
func (s *Server) listObjects(ctx context.Context, req message) (message, error) {
	resp := newMessage("ListObjectsResponse")
	err := s.call(ctx, List, "", func() error {
		b, err := s.find(req.string("parent"))
		if err != nil {
			return err
		}
		limit := int(req.int("page_size"))
		if limit <= 0 || limit > maxPage {
			limit = maxPage
		}
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(b.objects)), func(name string) bool {
			return !strings.HasPrefix(name, req.string("prefix")) || name <= req.string("page_token")
		})
		for i, name := range names {
			if i == limit {
				resp.set("next_page_token", names[i-1])
				break
			}
			resp.add("objects", b.objects[name].metadata())
		}
		return nil
	})
	return resp, err
}

func (s *Server) deleteObject(ctx context.Context, req message) (message, error) {
	err := s.call(ctx, Delete, req.string("object"), func() error {
		o, err := s.get(req.string("bucket"), req.string("object"))
		if err != nil {
			return err
		}
		if !o.finalized && s.opts.KeepUnfinalized {
			return status.Errorf(codes.FailedPrecondition, "object %q is not finalized", o.name)
		}
		s.remove(o)
		return nil
	})
	return message{new(emptypb.Empty).ProtoReflect()}, err
}
