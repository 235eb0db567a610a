// The action on upstreams, which retries a refused credential.

import { GatewayError } from '../catalogue/errors.ts';
import { retryIn } from '../shared/questions/fleet.ts';
import type { Actor } from './actor.ts';
import { readAuthority } from './authority.ts';
import type { AdministrationDeps } from './deps.ts';

type RetryDeps = Pick<AdministrationDeps, 'store' | 'askFleet' | 'now'>;

export interface Retry {
  readonly upstream: string;
  readonly dryRun?: boolean;
}

/**
 * Makes every process of every instance send a refused credential again. Writes a note to the audit log if one of these processes had a
 * refused credential.
 *
 * @returns whether one of them had a refused credential
 * @throws GatewayError resource_missing
 */
export async function retryUpstream(
  deps: RetryDeps,
  actor: Actor,
  { upstream, dryRun = false }: Retry,
): Promise<boolean> {
  const { store, askFleet } = deps;
  const { author } = await readAuthority(deps, actor);
  const retry = retryIn(await askFleet({ about: dryRun ? 'upstream refused' : 'upstream retry', upstream }));
  if (retry === undefined) throw new GatewayError('resource_missing');
  const isRetried = retry.retried.includes(upstream);
  const change = { before: { credential: 'refused' }, after: { credential: 'unproven' } };
  if (isRetried && !dryRun) await store.audit.append('upstream.retried', author, { upstream, ...change });
  return isRetried;
}
