import { Client, credentials, type Metadata, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

// A client of Envoy's rate limit service whose messages are those of the public API, with their packages and all fields that Envoy reads.
// It shares no text with @sluice/serve.

const { root } = protobuf.parse(
  `syntax = "proto3";
package envoy.service.ratelimit.v3;
message Entry { string key = 1; string value = 2; }
enum RateLimitUnit { UNIT_UNKNOWN = 0; UNIT_SECOND = 1; UNIT_MINUTE = 2; UNIT_HOUR = 3; }
message RateLimitOverride { uint32 requests_per_unit = 1; RateLimitUnit unit = 2; }
message UInt64Value { uint64 value = 1; }
message RateLimitDescriptor { repeated Entry entries = 1; RateLimitOverride limit = 2; UInt64Value hits_addend = 3; bool is_negative_hits = 4; }
message RateLimitRequest { string domain = 1; repeated RateLimitDescriptor descriptors = 2; uint32 hits_addend = 3; }
enum Code { UNKNOWN = 0; OK = 1; OVER_LIMIT = 2; }
enum Unit { UNKNOWN_UNIT = 0; SECOND = 1; MINUTE = 2; HOUR = 3; DAY = 4; MONTH = 5; YEAR = 6; WEEK = 7; }
message RateLimit { uint32 requests_per_unit = 1; Unit unit = 2; string name = 3; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message DescriptorStatus {
  Code code = 1;
  RateLimit current_limit = 2;
  uint32 limit_remaining = 3;
  Duration duration_until_reset = 4;
}
message HeaderValue { string key = 1; string value = 2; bytes raw_value = 3; }
message RateLimitResponse {
  Code overall_code = 1;
  repeated DescriptorStatus statuses = 2;
  repeated HeaderValue response_headers_to_add = 3;
  repeated HeaderValue request_headers_to_add = 4;
  bytes raw_body = 5;
}
message HealthCheckResponse { int32 status = 1; }`,
  { keepCase: true },
);
const typeOf = (name: string) => root.lookupType(`envoy.service.ratelimit.v3.${name}`);
const [REQUEST, RESPONSE, HEALTH] = ['RateLimitRequest', 'RateLimitResponse', 'HealthCheckResponse'].map(
  typeOf,
) as [protobuf.Type, protobuf.Type, protobuf.Type];

export interface RlsStatus {
  readonly code: 'OK' | 'OVER_LIMIT';
  readonly current_limit?: { requests_per_unit: number; unit?: string; name: string };
  readonly limit_remaining?: number;
  readonly duration_until_reset?: { seconds?: number; nanos?: number };
}

export interface RlsResponse {
  readonly overall_code: 'OK' | 'OVER_LIMIT';
  readonly statuses: readonly RlsStatus[];
  readonly response_headers_to_add?: readonly { key: string; value: string }[];
  readonly raw_body?: string;
}

export interface RlsDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  readonly limit?: { requests_per_unit: number; unit: number };
  readonly hits_addend?: { readonly value: number };
  readonly is_negative_hits?: boolean;
}

/** A descriptor of the entries `['foo', 'a'], ['bar', 'b']`. */
export const descriptor = (
  ...entries: readonly (readonly [key: string, value: string])[]
): RlsDescriptor => ({
  entries: entries.map(([key, value]) => ({ key, value })),
});

/** What Envoy and the probes of a platform send. */
export class RlsClient {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  /** @throws ServiceError */
  shouldRateLimit(
    domain: string,
    descriptors: readonly RlsDescriptor[],
    hits?: number,
  ): Promise<RlsResponse> {
    const request = REQUEST.fromObject({
      domain,
      descriptors,
      ...(hits !== undefined && { hits_addend: hits }),
    });
    return this.#call(
      'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      REQUEST.encode(request).finish(),
      RESPONSE,
    );
  }

  /** @returns 1 if the server serves, 2 if it does not */
  async health(): Promise<number> {
    const { status } = await this.#call<{ status: number }>(
      'grpc.health.v1.Health/Check',
      new Uint8Array(),
      HEALTH,
    );
    return status;
  }

  /** Any bytes as the request. */
  send(bytes: Uint8Array): Promise<RlsResponse> {
    return this.#call('envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit', bytes, RESPONSE);
  }

  #call<T>(path: string, request: Uint8Array, type: protobuf.Type): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Uint8Array, T>(
        `/${path}`,
        (bytes) => Buffer.from(bytes),
        (bytes) => type.toObject(type.decode(bytes), { enums: String, longs: Number, bytes: String }) as T,
        request,
        (error: ServiceError | null, response?: T, _trailer?: Metadata) => {
          if (error === null) resolve(response!);
          else reject(error);
        },
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}
