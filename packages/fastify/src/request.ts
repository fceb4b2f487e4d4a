import { NamedPartsView } from '@sluice/core';
import type { FastifyRequest } from 'fastify';

export class FastifyRequestView extends NamedPartsView<FastifyRequest> {
  get path(): string {
    const { url } = this.request;
    const query = url.indexOf('?');
    return query < 0 ? url : url.slice(0, query);
  }
}
