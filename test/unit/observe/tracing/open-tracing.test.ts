// The headers for a collector come from the secrets store, one per line.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createIds } from '../../../../gateway/edge/ids.ts';
import { createLog } from '../../../../gateway/observe/log/log.ts';
import { openTracing } from '../../../../gateway/observe/tracing/tracing.ts';

const tracing = { endpoint: 'http://127.0.0.1:1/', sampleRatio: 1, serviceName: 'x', headersSecret: 'otlp_headers' };

const opening = (secret: string | undefined) =>
  openTracing({
    settings: tracing,
    readSecret: (entry) => (entry === 'otlp_headers' ? secret : undefined),
    ids: createIds(Date.now),
    log: createLog({ level: 'fatal', now: Date.now, destination: { write: () => undefined } }),
    version: 'test',
    onOutcome: () => undefined,
  });

it('a secret that is not there, or is no header, is named before anything starts', () => {
  assert.throws(
    () => opening(undefined),
    /^Error: The secret otlp_headers, which holds the headers for the collector of traces, does/,
  );
  for (const text of ['nonsense', 'A: b\nnonsense', 'A B: c', 'A:', 'A: b\u{e9}'])
    assert.throws(() => opening(text), /^Error: The secret otlp_headers is not lines of Name: value in ASCII\.$/, text);
});

it('lines may end in any way, and empty ones mean nothing', async () => {
  for (const text of ['A: b', 'A: b\r\nC:d\r\n', '\nA: b c\n\n']) await opening(text)?.close();
});
