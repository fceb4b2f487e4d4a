import type { McpServer as RequiredServer } from '@modelcontextprotocol/sdk/server/mcp.js' with {
  'resolution-mode': 'require',
};
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { fixedWindow } from '@sluice/core';
import { limitTools } from './index.js';

const limits = { perCredential: fixedWindow({ limit: 2, window: '1h' }) };

/** `npm run typecheck` checks what this test is about. */
test('a server of the SDK fits by its declarations for import and for require', async () => {
  const imported = new McpServer({ name: 'test', version: '1.0.0' });
  await limitTools(imported, limits).close();
  const required = new McpServer({ name: 'test', version: '1.0.0' }) as unknown as RequiredServer;
  await limitTools(required, limits).close();
  // @ts-expect-error it is no server
  expect(() => limitTools({}, limits)).toThrow(TypeError);
});
