// The warning of an organization near its limit ends with the first request under a higher limit, not a minute later. Its runbook has the
// organization in its commands, and an address that a terminal takes as a whole.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { printCauses } from '../../../gateway/commands/status/print-causes.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { saveAndReload } from '../reload/files.ts';

const limitsOf = (requests: number) => ({ tiers: { standard: { requests, windowSeconds: 60 } } });

it('an organization that came near a limit, which is then raised, is near none', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({ ...thingsAt(upstream.url), limits: limitsOf(20) });
  try {
    const { authorization } = await gateway.authorize({ organization: 'org_near' });
    const ask = () => fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
    const read = async <T>(path: string) => (await (await fetch(`${gateway.adminUrl}/${path}`)).json()) as T;
    const nearNow = async () => {
      const { causes } = await read<CausesReport>('causes');
      return causes.filter(({ id }) => id === 'near org_near organization').map(({ cause }) => cause);
    };
    for (let count = 0; count < 19; count += 1) assert.equal((await ask()).status, 200);
    await eventually(async () => (await nearNow()).length === 1);
    assert.deepEqual(await nearNow(), ['org_near has used 19 of 20 in 60 s, its limit organization.']);
    const printed: string[] = [];
    const write = (text: string) => void printed.push(text);
    printCauses({ write }, (await read<CausesReport>('causes')).causes);
    const [, title = ''] = /\/#\/(runbook\/\S+)$/m.exec(printed.join('')) ?? [];
    const { text } = await read<{ text: string }>(`console/${title}`);
    assert.match(text, /^- Look: `bin\/gateway limits show --org org_near`/m);
    assert.match(text, /^- Do: /m);
    await saveAndReload(gateway, 'config/limits.yaml', limitsOf(40));
    assert.equal((await ask()).status, 200);
    await eventually(async () => (await nearNow()).length === 0);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});
