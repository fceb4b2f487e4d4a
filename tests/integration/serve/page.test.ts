import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { memoryStore } from '@sluice/core';
import { parseRules, Rules, runTests } from '@sluice/rules';
import { serve } from '@sluice/serve';
import { parse } from 'yaml';
import { serve as command } from '../../../packages/cli/src/commands/serve.js';
import { descriptor, RlsClient } from '../../support/rls-client.js';

const page = readFileSync(resolve(__dirname, '../../../docs/serve.md'), 'utf8');
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)![1]!;

test('the rules of the page are valid, and their tests pass', async () => {
  const set = parseRules(block('yaml'));
  expect([set.rules.length, (await runTests(set)).failed]).toEqual([3, []]);
});

describe('the configuration of Envoy', () => {
  const { http_filters, clusters } = parse(block('yaml envoy'), { strict: true });
  const [{ name, typed_config: filter }] = http_filters;
  const [cluster] = clusters;

  test('names the filter, version 3 of the protocol, and a cluster that is in it', () => {
    expect([http_filters.length, name, filter['@type']]).toEqual([
      1,
      'envoy.filters.http.ratelimit',
      'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit',
    ]);
    const { transport_api_version, grpc_service } = filter.rate_limit_service;
    expect([transport_api_version, grpc_service.envoy_grpc.cluster_name]).toEqual(['V3', cluster.name]);
    expect([clusters.length, cluster.load_assignment.cluster_name]).toEqual([1, cluster.name]);
  });

  test('reaches the gRPC port that the command prints, over HTTP/2', () => {
    const [{ lb_endpoints }] = cluster.load_assignment.endpoints;
    const { address, port_value } = lb_endpoints[0].endpoint.address.socket_address;
    expect(page).toContain(`gRPC on ${address}:${port_value}\n`);
    const type = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
    expect(cluster.typed_extension_protocol_options[type]).toEqual({
      '@type': `type.googleapis.com/${type}`,
      explicit_http_config: { http2_protocol_options: {} },
    });
  });

  test('waits longer than the deadline of the rules', () => {
    const [, deadline] = /longer than the deadline of the rules, ([\d.]+)s/.exec(page)!;
    expect(Number.parseFloat(filter.timeout)).toBeGreaterThan(Number(deadline));
  });

  test('has the domain of the rules below it, which decide its descriptors', async () => {
    const store = memoryStore();
    const rules = new Rules(block('yaml'), { store });
    const served = await serve(rules, { port: 0, grpcPort: 0 });
    const client = new RlsClient(served.grpcPort);
    const policyOf = async (...entries: (readonly [string, string])[]) => {
      const { statuses } = await client.shouldRateLimit(filter.domain, [descriptor(...entries)]);
      return statuses[0]!.current_limit?.name;
    };
    const policies = [
      await policyOf(['remote_address', '192.0.2.1']),
      await policyOf(['user', 'a']),
      await policyOf(['user', 'a'], ['method', 'PUT']),
      await policyOf(['user', 'a'], ['method', 'GET']),
    ];
    client.close();
    await served.close();
    await rules.close();
    await store.close();
    expect(policies).toEqual(['rules.address', 'rules.user', 'rules.uploads', undefined]);
  });
});

test('the answer of the page is the answer of the server', async () => {
  const store = memoryStore();
  const rules = new Rules('rules: [{ name: sms, limit: { fixedWindow: { limit: 1, window: 1m } } }]', {
    store,
  });
  const served = await serve(rules, { port: 0, grpcPort: 0 });
  const [, body] = /-d '(\{.*?\})'/.exec(page)!;
  const response = await fetch(`http://127.0.0.1:${served.port}/v1/consume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body!,
  });
  expect(await response.json()).toEqual({ ...JSON.parse(block('json')), source: 'memory' });
  await served.close();
  await rules.close();
  await store.close();
});

test('the page has all options of the command', () => {
  const flags = command.options.map(({ flags }) => flags.split(' ')[0]);
  const listed = [...page.matchAll(/^\| `(--[\w-]+)` \|/gm)].map(([, flag]) => flag);
  expect(listed.sort()).toEqual(flags.sort());
});
