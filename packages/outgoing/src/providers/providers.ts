import type { Cost, Policy } from '@sluice/core';
import type { OutgoingRequest } from '../calls/outgoing-request.js';
import type { RateLimitReader } from '../reading/reading.js';
import { anthropicHeaders } from './anthropic.js';
import { atlassianHeaders } from './atlassian.js';
import { discordHeaders } from './discord.js';
import {
  airtableEndpoint,
  airtableHeaders,
  googleHeaders,
  quickbooksHeaders,
  salesforceHeaders,
  slackHeaders,
} from './documented-waits.js';
import { githubCost, githubHeaders, githubLimits, githubResource } from './github.js';
import { hubspotHeaders } from './hubspot.js';
import { openaiHeaders } from './openai.js';
import { shopifyHeaders } from './shopify.js';
import { standardHeaders } from './standard.js';
import { stripeHeaders } from './stripe.js';

/** A service that is known by its host. */
export interface Provider {
  readonly reader: RateLimitReader;
  /** The budgets that a request draws on. Default: `requests`. */
  readonly dimensions?: (pathname: string) => readonly string[];
  /** What shares limits, in place of the method and the route of a request. */
  readonly endpoint?: (pathname: string) => string | undefined;
  /** Is a success read, too, because it may be a refusal? */
  readonly readsSuccess?: true;
  /** Limits of its documentation, for each account. */
  readonly limits?: () => Readonly<Record<string, Policy>>;
  readonly cost?: (request: OutgoingRequest) => Cost;
  readonly concurrency?: number;
}

const TOKENS = ['requests', 'tokens'];

const PROVIDERS: readonly (readonly [host: RegExp, provider: Provider])[] = [
  [
    /^(?:api|uploads)\.github\.com$/,
    {
      reader: githubHeaders,
      dimensions: (path) => [githubResource(path)],
      limits: githubLimits,
      cost: githubCost,
      concurrency: 100,
    },
  ],
  [/^api\.openai\.com$|\.openai\.azure\.com$/, { reader: openaiHeaders, dimensions: () => TOKENS }],
  [
    /^api\.anthropic\.com$/,
    { reader: anthropicHeaders, dimensions: () => [...TOKENS, 'input-tokens', 'output-tokens'] },
  ],
  [
    /\.myshopify\.com$/,
    {
      reader: shopifyHeaders,
      dimensions: (path) => (path.endsWith('/graphql.json') ? ['points'] : ['requests']),
      readsSuccess: true,
    },
  ],
  [/^(?:api|files)\.stripe\.com$/, { reader: stripeHeaders }],
  [/\.atlassian\.(?:net|com)$/, { reader: atlassianHeaders }],
  [/^api\.hubapi\.com$/, { reader: hubspotHeaders }],
  [/^discord(?:app)?\.com$/, { reader: discordHeaders }],
  [/^slack\.com$/, { reader: slackHeaders, readsSuccess: true }],
  [/^api\.airtable\.com$/, { reader: airtableHeaders, endpoint: airtableEndpoint }],
  [/quickbooks\.api\.intuit\.com$/, { reader: quickbooksHeaders }],
  [/\.salesforce\.com$/, { reader: salesforceHeaders }],
  [/\.googleapis\.com$/, { reader: googleHeaders }],
];

const OTHER: Provider = { reader: standardHeaders() };

export const providerOf = (hostname: string): Provider =>
  PROVIDERS.find(([host]) => host.test(hostname))?.[1] ?? OTHER;

/** The reader of a service, and the standard headers, which it may also send. */
export const readersOf = (provider: Provider): readonly RateLimitReader[] =>
  provider === OTHER ? [OTHER.reader] : [provider.reader, OTHER.reader];
