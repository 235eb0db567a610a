// A caller is asked for again when the key store has changed, and until the store gives an answer.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ANONYMOUS } from '../../../gateway/auth/authenticate.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { StreamEnd } from '../../../gateway/exchange/findings.ts';
import { OpenStreams } from '../../../gateway/streams/open-streams.ts';

const caller: Caller = { ...ANONYMOUS, subject: 'key_1' };

it('a key that is revoked while the store cannot be read ends its stream once the store can be read', async () => {
  const streams = new OpenStreams({ mostOf: () => 10, now: Date.now });
  const refusals = ['auth_unavailable', 'auth_unavailable', 'api_key_revoked'] as const;
  let asked = 0;
  const end = new Promise<StreamEnd>((resolve) => {
    streams.open({
      kind: 'events',
      caller,
      clientAddress: '192.0.2.1',
      operation: { id: 'listEvents', upstream: 'platform' },
      admitAgain() {
        asked += 1;
        return Promise.reject(new GatewayError(refusals[asked - 1] ?? 'internal_error'));
      },
      end: resolve,
    });
  });
  // The timer of the streams does not keep this process alive.
  const awake = setInterval(() => undefined, 1000);
  streams.identityChanged({ key: 'key_1' });
  assert.equal(await end, 'credential');
  assert.equal(asked, 3);
  clearInterval(awake);
  streams.close();
});
