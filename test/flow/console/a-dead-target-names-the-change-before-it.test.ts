// A target that a change of the configuration made unreachable: the cause names the change, with the value before. A misspelled name is
// told with the one that was probably meant.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream, unusedPort } from '../../support/upstream.ts';

interface Cause {
  readonly id: string;
  readonly cause: string;
  readonly consequence: string;
}

let service: FakeUpstream;
let gateway: TestGateway;
before(async () => {
  service = await startUpstream();
  gateway = await startGateway(thingsAt(service.url));
});
after(async () => {
  await gateway.stop();
  await service.close();
});

const write = (entry: object) =>
  writeFileSync(join(gateway.directory, 'config', 'upstreams.yaml'), JSON.stringify({ upstreams: { things: entry } }));
const causeOf = (id: string) =>
  until(async () => {
    const feed = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as { readonly attention: Cause[] };
    return feed.attention.find((one) => one.id === id);
  });

it('names the change of the upstream, and the way back', async () => {
  const { things } = thingsAt(service.url).upstreams;
  const dead = `http://127.0.0.1:${await unusedPort()}`;
  write({ ...things, live: dead });
  const headers = await gateway.authorize();
  await until(async () => {
    const answer = await fetch(`${gateway.url}/v1/things`, { headers });
    await answer.text();
    return answer.status === 502;
  });
  for (let sent = 0; sent < 3; sent += 1) await (await fetch(`${gateway.url}/v1/things`, { headers })).text();
  const { consequence } = await causeOf('upstream things live');
  assert.match(consequence, /upstreams\.yaml changed at 2[^:]*:\d\d:[\d.]+Z: upstreams\.things\.live\S*: /);
  assert.ok(consequence.includes(`${service.url} → ${dead}`), consequence);
  assert.match(consequence, /To go back, write the former value: it is in force once saved\.$/);
});

it('names the setting that was probably meant', async () => {
  write({ ...thingsAt(service.url).upstreams.things, timeoutMS: 1000 });
  const { cause } = await causeOf('configuration');
  assert.match(cause, /^The configuration files have mistakes: upstreams\.yaml.* Did you mean "timeoutMs"\?$/);
});
