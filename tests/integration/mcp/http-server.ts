import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** An MCP server over Streamable HTTP. Its sign-in takes every token, whose text is the subject. */
export interface HttpServer {
  /** Opens a session. @param token none: without authorization */
  open(token?: string): Promise<Client>;
  close(): Promise<void>;
}

/** @param serverOf the server of a session */
export async function serveMcp(serverOf: () => McpServer): Promise<HttpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const transportOf = async (id: unknown) => {
    const known = sessions.get(id as string);
    if (known !== undefined) return known;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => {
        sessions.set(session, transport);
      },
    });
    await serverOf().connect(transport);
    return transport;
  };
  const http = createServer(async (request: IncomingMessage & { auth?: AuthInfo }, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '');
    if (token !== undefined) request.auth = { token, clientId: 'app', scopes: [], extra: { sub: token } };
    const transport = await transportOf(request.headers['mcp-session-id']);
    await transport.handleRequest(request, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
  const clients: Client[] = [];
  return {
    async open(token) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      clients.push(client);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      for (const transport of sessions.values()) await transport.close();
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}
