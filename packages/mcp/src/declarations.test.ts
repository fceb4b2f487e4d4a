import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { fixedWindow } from '@sluice/core';
import { limitTools } from './index.js';

const limits = { perCredential: fixedWindow({ limit: 2, window: '1h' }) };

/** Without private fields, by which TypeScript tells the SDK's declarations for `import` and for `require` apart. */
type Public<T> = Pick<T, keyof T>;
type OtherServer = Omit<Public<McpServer>, 'server'> & { readonly server: Public<Server> };

/** `npm run typecheck` checks what this test is about. */
test('a server of the SDK fits by its public members', async () => {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  await limitTools(server as OtherServer, limits).close();
  const other = new McpServer({ name: 'test', version: '1.0.0' });
  await limitTools(other.server as Public<Server>, limits).close();
  // @ts-expect-error it is no server
  expect(() => limitTools({}, limits)).toThrow(TypeError);
});
