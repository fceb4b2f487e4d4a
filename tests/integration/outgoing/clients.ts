import { upstream } from '@sluice/outgoing';
import got from 'got';
import ky from 'ky';

/** The body of a response that ky or got receives through an upstream, as docs/outgoing.md shows it. */
export async function callBy(client: 'ky' | 'got', origin: string): Promise<string> {
  const service = upstream({ name: 'service', origin });
  try {
    if (client === 'ky') return await ky.create({ fetch: service.fetch, retry: 0 }).get(`${origin}/a`).text();
    const url = `${origin}/a`;
    const { body } = await service.run({ url }, () => got(url, { retry: { limit: 0 } }));
    return body;
  } finally {
    await service.close();
  }
}
