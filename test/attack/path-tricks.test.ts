// Path tricks: a path is written so that the gateway checks one thing and the upstream serves another. `/v1/things/..%2fadmin` is one
// segment to a router that splits before it decodes, and a way up to a server that decodes first. Dot segments, doubled slashes,
// backslashes, matrix parameters (`;`), NUL, overlong UTF-8 and fragments all have servers that read them differently. The defence is to
// match on segments that are split first and decoded once, to refuse ambiguous paths, and to send on a path that is built from the checked
// segments. Single tricks are in the table (cases/targets.cases.ts); here they are put together.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { createWorld } from '../support/world.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';

const world = await createWorld();
after(() => world.close());

const targetOf = (request: string | undefined) => request?.split(' ')[1];

describe('any path', () => {
  const piece = fc.constantFrom(
    ...[
      '/',
      '//',
      '\\',
      '.',
      '..',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%00',
      '%25',
      ';',
      ':',
      '@',
      '?',
      '#',
      '%',
      'a',
      'v1',
      'things',
    ],
    ...[
      '%c0%ae',
      '%ef%bc%8f',
      '%e2%80%a8',
      '+',
      '&',
      '=',
      '*',
      '~',
      '%20',
      '%C3%A4',
      '..%2f',
      '.%00.',
      'http://',
      '[::1]',
    ],
  );

  it('that reaches the upstream is exactly the segments that were checked, to every reader', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        world.upstream.received.length = 0;
        const answer = await world.call(`GET /v1/things/${pieces.join('')}`);
        assert.ok(answer.status < 500, String(answer.status));
        for (const request of world.upstream.received) {
          const target = targetOf(request) ?? '';
          const [path = ''] = target.split('?');
          // A browser, a proxy and a framework make the same path of it.
          assert.equal(new URL(target, 'http://upstream').pathname, path);
          const decoded = path.split('/').map(decodeURIComponent);
          assert.ok(decoded.length === 3 || decoded.length === 4);
          assert.deepEqual(decoded.slice(0, 3), ['', 'v1', 'things']);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
          for (const segment of decoded.slice(1)) assert.doesNotMatch(segment, /^\.{0,2}$|[/\\\x00-\x1f]/);
        }
      }),
      { numRuns: 70 * LIMIT_RUNS },
    );
  });
});
