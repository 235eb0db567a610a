import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { TestGateway } from '../../support/gateway.ts';

export const administrationCases: readonly RefusalCase<TestGateway>[] = [
  {
    name: 'a record of the gateway while its store is away',
    code: 'records_unavailable',
    async provoke(gateway) {
      const headers = { Authorization: (await gateway.authorize({ scopes: ['gateway:read'] })).authorization };
      const read = () => ask(gateway.port, requestOf('GET /gateway/v1/organization', headers));
      assert.equal((await read()).status, 200);
      const database = new DatabaseSync(join(gateway.dataDirectory, 'gateway.db'));
      database.exec('ALTER TABLE organizations RENAME TO organizations_elsewhere');
      try {
        return await read();
      } finally {
        database.exec('ALTER TABLE organizations_elsewhere RENAME TO organizations');
        database.close();
      }
    },
    also: ({ body }) => assert.doesNotMatch(body.toString(), /sqlite|table|organizations_/i),
  },
];
