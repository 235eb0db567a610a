// Callers, operations and counts for tests of use.

import type { Caller } from '../../../gateway/exchange/caller.ts';
import { newCallerMemory } from '../../../gateway/exchange/caller-memory.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import type { Trail } from '../../../gateway/exchange/trail.ts';
import type { Entry } from '../../../gateway/usage/store.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const NOW_MS = Date.parse('2026-11-26T12:30:00Z');

export function callerOf(subject: string, organization = 'org_a', issuer?: string): Caller {
  return {
    subject,
    issuer,
    scheme: 'apiKey',
    mode: 'live',
    organization: { id: organization, name: '', tier: '', state: 'active', contacts: [], operator: false },
    scopes: new Set(),
    revoked: false,
    expiresAtMs: Number.POSITIVE_INFINITY,
    allowsAddress: undefined,
    memory: newCallerMemory(),
  };
}

export function operationOf(id: string): Operation {
  return { id } as Operation;
}

/** What is counted of an exchange. */
export function ended(
  caller: Caller | undefined,
  operation: Operation | undefined,
  status: number,
): Pick<Trail, 'caller' | 'operation' | 'status'> {
  return { caller, operation, status };
}

export function entry(more: Partial<Entry> = {}): Entry {
  const hourMs = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS;
  return { operation: 'listThings', key: 'key_1', statusClass: 2, requests: 1, hourMs, ...more };
}
