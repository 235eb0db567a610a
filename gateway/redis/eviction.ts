// What a Redis does when its memory is full: a policy other than noeviction deletes keys of clients, revocations among them.

import { askRedis } from './client.ts';

const ANSWER_MAX_MS = 2000;

/** The policy of a Redis that evicts; undefined for one that does not, does not say, or does not answer. */
export async function evictionPolicyAt(url: string): Promise<string | undefined> {
  try {
    return await askRedis(url, ANSWER_MAX_MS, async (client) => {
      const servers = 'nodes' in client ? client.nodes('master') : [client];
      const texts = await Promise.all(servers.map((server) => server.info('memory')));
      const policies = texts.map((text) => /^maxmemory_policy:(\S+)/m.exec(text)?.[1]);
      return policies.find((policy) => policy !== undefined && policy !== 'noeviction');
    });
  } catch {
    return undefined;
  }
}
