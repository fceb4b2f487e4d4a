import { createServer, type Server as TcpServer } from 'node:net';
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerErrorResponse,
  status,
} from '@grpc/grpc-js';
import { isKeyResolutionError } from '@sluice/core';
import { Answer } from './answer.js';
import type { Decider } from './decider.js';
import type { RateLimitRequest } from './descriptors.js';
import { BadCall, keyProblem, warnOfCall } from './errors.js';
import { HEALTH, RATE_LIMIT, serviceIn } from './proto.js';
import { shouldRateLimit } from './rate-limit-service.js';

/**
 * The usual limit of gRPC. Envoy passes requests whose message is refused, and a client can make it large: Envoy accepts 60 KiB of
 * headers, and each of many descriptors can have the same header.
 */
const MOST_BYTES = 4_194_304;

/** When a connection ends whose client answers no more. */
interface KeepAlive {
  /** From one ping to the next, ms. */
  readonly every: number;
  /** How long a client may take to answer a ping, ms. */
  readonly within: number;
}

/** The rate limit service of Envoy, and the health service. */
export function grpcServer(
  decider: Decider,
  isReady: () => boolean,
  { every, within }: KeepAlive = { every: 60_000, within: 20_000 },
): Server {
  const server = new Server({
    'grpc.max_receive_message_length': MOST_BYTES,
    'grpc.keepalive_time_ms': every,
    'grpc.keepalive_timeout_ms': within,
  });
  server.addService(serviceIn(RATE_LIMIT, 'envoy.service.ratelimit.v3.RateLimitService'), {
    ShouldRateLimit: unary((request: RateLimitRequest, answer) => shouldRateLimit(decider, request, answer)),
  });
  server.addService(serviceIn(HEALTH, 'grpc.health.v1.Health'), {
    Check: unary(async () => ({ status: isReady() ? 'SERVING' : 'NOT_SERVING' })),
  });
  return server;
}

function unary<T>(decide: (request: T, answer: Answer) => Promise<object>): handleUnaryCall<T, object> {
  return (call, callback) => {
    const answer = new Answer();
    call.once('cancelled', () => answer.end());
    decide(call.request, answer)
      .then((response) => callback(null, response))
      .catch((error: unknown) => callback(statusOf(error)))
      .finally(() => answer.end());
  };
}

function statusOf(error: unknown): Partial<ServerErrorResponse> {
  if (error instanceof BadCall) return { code: status.INVALID_ARGUMENT, details: error.message };
  if (isKeyResolutionError(error)) return { code: status.FAILED_PRECONDITION, details: keyProblem(error) };
  warnOfCall(error);
  return { code: status.INTERNAL, details: 'The log of the server says why.' };
}

/** The TCP server of a gRPC server. Its own one waits for clients that never close their connections. */
export function grpcListener(grpc: Server): TcpServer {
  const { injectConnection } = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  return createServer(injectConnection);
}
