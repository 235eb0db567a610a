// `gateway start | jq`: standard output carries log lines in JSON only. Messages for people go to standard error.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { writeConfiguration } from '../../support/gateway.ts';
import { createInstallation } from '../../support/process.ts';
import { temporaryDirectory } from '../../unit/auth/samples.ts';

for (const flags of [[], ['--json']]) {
  const words = ['start', ...flags].join(' ');
  it(`"gateway ${words}" prints JSON lines to standard output, and the greeting to standard error`, async (t) => {
    const directory = temporaryDirectory(t);
    writeConfiguration(directory, {});
    const installation = createInstallation({ GATEWAY_CONFIG: join(directory, 'config') });
    t.after(installation.remove);
    const gateway = await installation.start((child) => t.after(() => child.kill('SIGKILL')), flags);
    const closed = once(gateway.child, 'close');
    assert.match(gateway.standardError(), /^gateway {3}http:\/\/127\.0\.0\.1:\d+ {3}\d+ operations$/m);
    assert.match(gateway.standardError(), /^operators http:\/\/127\.0\.0\.1:\d+\/status$/m);
    const [, url = '', authorization = ''] =
      /^ {2}curl '(\S+)' -H 'Authorization: (Bearer \w+)'$/m.exec(gateway.standardError()) ?? [];
    assert.equal((await fetch(url, { headers: { authorization } })).status, 200);
    assert.equal(await gateway.stop(), 0);
    await closed;

    const output = gateway.standardOutput();
    assert.ok(output.endsWith('\n'));
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(lines.some(({ msg, status }) => msg === 'exchange' && status === 200));
    assert.ok(lines.some(({ msg }) => msg === 'draining'));
    const told = lines.filter((line) => 'admin_port' in line);
    const { port, adminPort: admin_port } = gateway;
    assert.deepEqual(told, flags.length === 0 ? [] : [{ port, admin_port }]);
    assert.ok(!output.includes('sk_test_'), 'the key is shown on standard error only');
  });
}
