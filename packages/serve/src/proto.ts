import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';

// The fields of public APIs that are used here. On the wire, only their numbers and the names of services count.

export const RATE_LIMIT = `syntax = "proto3";
package envoy.service.ratelimit.v3;
service RateLimitService { rpc ShouldRateLimit(RateLimitRequest) returns (RateLimitResponse); }
message RateLimitRequest { string domain = 1; repeated RateLimitDescriptor descriptors = 2; uint32 hits_addend = 3; }
message RateLimitDescriptor {
  message Entry { string key = 1; string value = 2; }
  message Override {}
  message UInt64Value { uint64 value = 1; }
  repeated Entry entries = 1; Override limit = 2; UInt64Value hits_addend = 3; bool is_negative_hits = 4;
}
message RateLimitResponse {
  enum Code { UNKNOWN = 0; OK = 1; OVER_LIMIT = 2; }
  enum Unit { NONE = 0; SECOND = 1; MINUTE = 2; HOUR = 3; DAY = 4; MONTH = 5; YEAR = 6; WEEK = 7; }
  message RateLimit { uint32 requests_per_unit = 1; Unit unit = 2; string name = 3; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message DescriptorStatus {
    Code code = 1; RateLimit current_limit = 2; uint32 limit_remaining = 3; Duration duration_until_reset = 4;
  }
  message HeaderValue { string key = 1; string value = 2; }
  Code overall_code = 1; repeated DescriptorStatus statuses = 2; repeated HeaderValue response_headers_to_add = 3;
  bytes raw_body = 5;
}`;

export const HEALTH = `syntax = "proto3";
package grpc.health.v1;
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; } ServingStatus status = 1; }`;

/** @param text of a .proto file */
export function serviceIn(text: string, name: string): ServiceDefinition {
  const { root } = protobuf.parse(text);
  return fromJSON(root.toJSON(), { longs: Number, enums: String })[name] as ServiceDefinition;
}
