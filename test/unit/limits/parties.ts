// Callers, operations, rules and requests as the limit tests need them: everything else about them is left plain.

import type { Caller, Organization } from '../../../gateway/exchange/caller.ts';
import type { Admitted, Permitted } from '../../../gateway/exchange/exchange.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import type { LimitRule, LimitRules } from '../../../gateway/limits/limit-rules.ts';

export function organization(id: string, tier = 'standard'): Organization {
  return { id, name: id, tier, state: 'active', contacts: [], operator: false };
}

export function caller(subject: string, of: Organization | undefined, mode: 'live' | 'test' = 'live'): Caller {
  const scopes = new Set(['*']);
  return {
    subject,
    scheme: 'apiKey',
    issuer: undefined,
    organization: of,
    mode,
    scopes,
    revoked: false,
    expiresAtMs: Infinity,
    allowsAddress: undefined,
  };
}

/** The parts that counting reads. */
export function operation(id: string, options: Partial<Operation> = {}): Operation {
  return { id, cost: 1, extraLimit: undefined, ...options } as Operation;
}

export function rule(requests: number, options: Partial<LimitRule> = {}): LimitRule {
  return { requests, windowSeconds: 60, enforce: true, ...options };
}

export function rules(options: Partial<LimitRules> = {}): LimitRules {
  return Object.freeze({
    countPer: 'organization',
    whenStoreIsAway: 'local',
    tiers: { standard: rule(100), premium: rule(1000) },
    extra: {},
    operations: {},
    organizations: {},
    addresses: { failures: 60, windowSeconds: 60 },
    ...options,
  });
}

/** A request from an address, without the parts that the stages under test do not read. */
export function admitted(clientAddress: string): Admitted {
  return { clientAddress } as Admitted;
}

export function permitted(by: Caller, wanted: Operation, clientAddress = '192.0.2.1'): Permitted {
  const trail = new Trail('req_1', 'GET');
  const request = { caller: by, operation: wanted, clientAddress, permitted: true, commonHeaders: [], trail };
  return request as unknown as Permitted;
}
