import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { fixedWindow, memoryStore, redisStore } from '@sluice/core';
import { limitTools } from '@sluice/mcp';

// A program that serves one tool over stdio: two calls in an hour. Arguments: the name of its limits, and a Redis to count in.
const [name, url] = process.argv.slice(2);
const store = url === undefined ? memoryStore() : redisStore(url);
const server = new McpServer({ name: 'test', version: '1.0.0' });
server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'echo' }] }));
limitTools(server, {
  ...{ name: name!, store, deadline: '10s' },
  perCredential: fixedWindow({ limit: 2, window: '1h' }),
});
void server.connect(new StdioServerTransport());
