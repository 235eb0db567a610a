// A running gateway on the data directory that commands work on, with an upstream that answers every caller.

import { startGateway } from '../../support/gateway.ts';
import { thingsContract } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { PEPPER } from '../../unit/auth/samples.ts';

export async function gatewayOn(dataDirectory: string, now = Date.now) {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    dataDirectory,
    now,
    environment: { KEY_PEPPER: PEPPER },
    contracts: { 'things.json': thingsContract() },
    upstreams: { things: { contracts: ['things.json'], live: upstream.url, test: upstream.url } },
  });
  return {
    gateway,
    /** 200, or the code of the refusal. */
    async answerTo(key: string): Promise<number | string> {
      const answer = await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
      const { error } = (await answer.json()) as { error?: { code: string } };
      return error?.code ?? answer.status;
    },
    async stop() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
