// The runbook that a cause leads to has the names of the present in its commands, the place in the configuration, and the reason of the
// latest refusal. Without a cause, its commands have open places.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { filledIn } from '../../../gateway/console/runbook.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

describe('a runbook', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway(thingsAt(`http://127.0.0.1:${await unusedPort()}`));
  });
  after(() => gateway.stop());

  const runbook = async (title: string) =>
    ((await (await fetch(`${gateway.adminUrl}/console/runbook/${title}`)).json()) as { text: string }).text;

  it('has open places while nothing leads to it', async () => {
    const text = await runbook('GatewayTargetDown');
    assert.match(text, /`bin\/gateway upstreams try … --mode …`/);
    assert.doesNotMatch(text, /</);
  });

  it('names upstream, place and reason while its target is down', async () => {
    const headers = await gateway.authorize();
    for (let sent = 0; sent < 3; sent += 1) await (await fetch(`${gateway.url}/v1/things`, { headers })).text();
    await eventually(async () => {
      const { causes } = (await (await fetch(`${gateway.adminUrl}/causes`)).json()) as CausesReport;
      return causes.some(({ runbook: title }) => title === 'GatewayTargetDown');
    });
    const text = await runbook('GatewayTargetDown');
    assert.match(text, /`bin\/gateway upstreams try things --mode live`/);
    assert.match(
      text,
      /^- Look: the log says of the latest request that was refused: `ECONNREFUSED: [^`]+`\. `bin\/gateway status`/m,
    );
    const [, file = '', line = ''] = /`([^`]*\/upstreams\.yaml):(\d+)`/.exec(text) ?? [];
    assert.match(readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? '', /things/);
  });

  it('has the way to Redis in its command', () => {
    const text = 'Is it full (`redis-cli <redis> info`)?';
    assert.equal(filledIn(text, { names: { redis: '-h r1 -p 6379' } }), 'Is it full (`redis-cli -h r1 -p 6379 info`)?');
  });
});
