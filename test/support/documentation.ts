// A documentation that has all its parts.

import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_ENTRY } from './administration.ts';
import { shippedContracts, startGateway, type TestGateway } from './gateway.ts';

const PLATFORM = { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' };

const NO_PROMISE = { openapi: '3.1.1', info: { title: 'Nothing', version: '1' }, paths: {} };

/** Starts a gateway with the shipped contracts, tiers, an account page, changes, help and agents. */
export function startDocumentation(): Promise<TestGateway> {
  return startGateway({
    contracts: {},
    prepare(directory) {
      const contracts = join(directory, 'openapi');
      cpSync(shippedContracts, contracts, { recursive: true });
      // Keep only the record of changes: the published contracts have operations that this gateway does not serve.
      const published = join(contracts, 'published');
      for (const file of readdirSync(published))
        if (file.endsWith('.json')) writeFileSync(join(published, file), JSON.stringify(NO_PROMISE));
    },
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
