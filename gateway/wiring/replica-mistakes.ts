// Refuses to promise replicas where there is no Redis that could have them.

import type { Config } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import type { Mistake } from '../config-errors.ts';

export function replicaMistakes({ gateway, sources }: Config, { redisUrl }: Pick<Settings, 'redisUrl'>): Mistake[] {
  const { replicas } = gateway.idempotency;
  if (replicas === 0 || redisUrl !== undefined) return [];
  const reason = `${replicas} of the replicas of Redis shall have each key, and there is no Redis.`;
  return [sources.gateway.mistakeAt(['idempotency', 'replicas'], reason, 'Set REDIS_URL, or remove this setting.')];
}
