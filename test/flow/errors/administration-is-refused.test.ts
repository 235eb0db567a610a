// Refusals of the gateway's own operations.

import { after, before, describe } from 'node:test';
import { startAdministration } from '../../support/administration.ts';
import { runCases } from '../../support/errors.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { administrationCases, KEYS_MAX } from './administration.cases.ts';

describe("operations of the gateway's own contract", () => {
  let gateway: TestGateway;
  before(async () => {
    ({ gateway } = await startAdministration({ gateway: { keys: { perOrganizationMax: KEYS_MAX } } }));
  });
  after(() => gateway.stop());

  runCases(administrationCases, () => gateway);
});
