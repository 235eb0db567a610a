// An error page whose end never comes says what its status says, also from an upstream whose answers are read whole before they are judged.
// The log line has the media type of the page, and how much of it arrived.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ErrorCode } from '../../../gateway/catalogue/errors.ts';
import { until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import type { Script } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const head = (status: number, length: number) =>
  `HTTP/1.1 ${status} No\r\nContent-Type: text/html\r\nContent-Length: ${length}\r\n\r\n`;
const stalls =
  (status: number): Script =>
  (socket) =>
    socket.write(`${head(status, 99)}<html`);
const breaksOff =
  (status: number): Script =>
  (socket) =>
    socket.end(`${head(status, 99)}<html`);
const isEndless: Script = (socket) => socket.write(head(500, 9_000_000) + 'x'.repeat(9_000_000));

const pages: readonly [string, Script, ErrorCode, shape?: string][] = [
  ['of 500 that stalls', stalls(500), 'upstream_error', 'text/html, 5 bytes'],
  ['of 503 that stalls', stalls(503), 'upstream_unavailable', 'text/html, 5 bytes'],
  ['of 500 that breaks off', breaksOff(500), 'upstream_error', 'text/html, 5 bytes'],
  ['of 500 that is too long to be judged', isEndless, 'upstream_error', 'text/html, more than 65536 bytes'],
  // Below 500, its body decides.
  ['of 404 that stalls', stalls(404), 'upstream_timeout'],
];

const credential = { basic: { user: 'keeper', secret: 'keeper_password' } };
// biome-ignore lint/suspicious/noThenProperty: the key of the file
const answers = [{ when: { status: 500 }, then: { code: 'resource_missing' } }];

for (const [name, entry] of Object.entries({ 'no credential': {}, credential: { credential }, rules: { answers } }))
  describe(`a page of an upstream with ${name}`, () => {
    let world: World;
    before(async () => {
      const secrets = temporaryDirectory();
      writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
      const bounds = { idleTimeoutMs: 100, retry: { attempts: 0, budgetPercent: 20 }, ejection: 'off', breaker: 'off' };
      world = await createWorld({ environment: { SECRETS_DIR: secrets } }, { ...bounds, ...entry });
    });
    after(() => world.close());

    for (const [page, script, code, shape] of pages)
      it(page, async () => {
        world.upstream.plays(script);
        const answer = await world.call('GET /v1/things');
        assertRefusal(answer, code);
        const line = await until(() =>
          world.gateway.logLines().find(({ request_id }) => request_id === answer.error.request_id),
        );
        assert.equal(line.upstream_body, shape);
      });
  });
