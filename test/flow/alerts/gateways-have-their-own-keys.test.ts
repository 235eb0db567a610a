// Without publicUrl, the public address is localhost for every gateway. The keys of incidents differ all the same, and stay the same for one
// gateway, also at another port.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { ALERTS_FILE } from '../../../gateway/alerts/file-store.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

let pager: Awaited<ReturnType<typeof startAlertReceiver>>;
let service: string;
before(async () => {
  pager = await startAlertReceiver();
  service = `http://127.0.0.1:${await unusedPort()}`;
});
after(() => pager.close());

/** Starts a gateway whose service is down. */
const start = (dataDirectory: string) =>
  startGateway({
    ...thingsAt(service),
    gateway: {
      publicUrl: undefined,
      alerts: {
        receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
        ...{ forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 },
      },
    },
    environment: { PAGER_KEY: pager.secret },
    dataDirectory,
  });

/** Returns the keys of the messages about the service, one for each message. */
const keys = () =>
  pager.delivered.flatMap(({ alerts }) =>
    alerts.flatMap((one) => (one.id.startsWith('upstream things') ? [one.dedup_key] : [])),
  );

/** Starts a gateway, and ends it once it has told that its service is down. */
async function told(dataDirectory: string): Promise<void> {
  const before = keys().length;
  const gateway = await start(dataDirectory);
  try {
    const { authorization } = await gateway.authorize();
    await eventually(async () => {
      await fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
      return keys().length > before;
    });
  } finally {
    await gateway.stop();
  }
}

it('two gateways have two keys, and the one that starts again has the same', async () => {
  const data = temporaryDirectory();
  await told(data);
  // It tells the same once more if it has forgotten what it told.
  rmSync(join(data, ALERTS_FILE), { force: true });
  await told(data);
  await told(temporaryDirectory());
  const [first, again, other] = keys();
  assert.equal(again, first);
  assert.notEqual(other, first);
});
