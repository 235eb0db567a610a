// A documentation that has all its parts.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_ENTRY } from './administration.ts';
import { shippedContracts, startGateway, type TestGateway } from './gateway.ts';

const PLATFORM = { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' };

/** The shipped contracts, with tiers, an account page, changes, help and agents. */
export function startDocumentation(): Promise<TestGateway> {
  return startGateway({
    contracts: {},
    // Of the published contracts the record of changes alone: not every one is served here.
    prepare: (directory) =>
      cpSync(shippedContracts, join(directory, 'openapi'), {
        recursive: true,
        filter: (path) => !/published\/.*\.json$/.test(path),
      }),
    upstreams: {
      platform: PLATFORM,
      files: { contracts: ['files.yaml'], live: 'sandbox:files', test: 'sandbox:files' },
      ...OWN_ENTRY,
    },
    limits: {
      tiers: {
        anonymous: { requests: 30 },
        standard: { requests: 100 },
        premium: { requests: 1000, openStreams: 500 },
      },
      extra: { exports: { requests: 5, windowSeconds: 3600, per: 'organization' } },
      operations: { createJob: { extra: 'exports' } },
    },
    gateway: {
      publishedContracts: 'published',
      mcp: { path: '/mcp', entries: ['platform'] },
      portal: {
        title: 'Platform API',
        description: 'One address, one key, one form of error. JSON over HTTP, described by OpenAPI.',
        sampleOperation: 'listCustomers',
        contact: 'help@example.com',
        status: 'https://status.example.com/',
      },
    },
  });
}
