// Carries out the actions of operators in the console. An action is first previewed, and carried out when the operator agrees. Commands and
// HTTP clients use the same functions.

import type { Actor } from '../administration/actor.ts';
import { readAuthority } from '../administration/authority.ts';
import { confirmationsNow } from '../administration/confirmations.ts';
import { revokeKey } from '../administration/keys.ts';
import { resetLimits } from '../administration/limits.ts';
import {
  changeOrganization,
  getOrganization,
  organizationTag,
  resumeOrganization,
  suspendOrganization,
} from '../administration/organizations.ts';
import { getKey, keyTag, stateOf } from '../administration/read-keys.ts';
import { retryUpstream } from '../administration/upstreams.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import type { Organization } from '../exchange/caller.ts';
import { ruleOf } from '../limits/limit-rules.ts';
import type { LimitUsage } from '../limits/limit-usage.ts';
import type { Answers } from '../observe/admin/answers.ts';
import { CREDENTIAL_STATES, type CredentialState } from '../shared/contracts/upstreams.ts';
import type { ActionAnswer, ConsoleAction } from '../shared/questions/console-action.ts';
import type { AskFleet } from '../shared/questions/fleet.ts';

interface ConsoleActionsOptions {
  readonly store: KeyStore;
  readonly limitUsage: LimitUsage;
  configuration(): Configuration;
  /** Returns the state of the credential of an upstream; undefined for an unknown upstream. */
  credentialOf(upstream: string): { readonly credential?: CredentialState } | undefined;
  /** Asks all processes of all instances. */
  readonly askFleet: AskFleet;
  now(): number;
}

type Members = Readonly<Record<string, unknown>>;

interface Effect {
  readonly organization?: string;
  /** The members that change, with their values before and after. */
  readonly before: Members;
  readonly after: Members;
  /** Usable keys of the organization, now and then. */
  readonly keys?: { readonly before: number; readonly after: number };
  /** Whether the action ends the last key of the organization that works. */
  readonly isLastKey?: boolean;
  /** Identifies the state that the operator has seen; undefined where the state changes with each request. */
  readonly tag?: string;
}

/** A prepared action. Nothing is written to the store before `carryOut` is called. */
interface PreparedAction extends Effect {
  carryOut(): Promise<unknown>;
}

export function createConsoleActions(options: ConsoleActionsOptions): Pick<Answers, 'act' | 'inForce'> {
  return {
    async act(action, requestId, by) {
      const actor: Actor = { kind: 'operator', by, requestId };
      try {
        const { carryOut, ...effect } = await prepare(options, actor, action);
        if (!action.dryRun) await carryOut();
        return { status: 200, body: toJson(action, effect) };
      } catch (cause) {
        return refusalOf(cause);
      }
    },
    async inForce() {
      const { confirmed, unconfirmed } = await confirmationsNow(options.store);
      return {
        confirmed: confirmed.length,
        unconfirmed: unconfirmed.map(({ host, pid, silentMs }) => ({ host, pid, silent_ms: Math.round(silentMs) })),
      };
    },
  };
}

async function usableKeysOf({ store, now }: ConsoleActionsOptions, organization: string): Promise<number> {
  const keys = await store.keys.list({ organization });
  return keys.filter((key) => stateOf(key, now()) === 'active').length;
}

async function prepareOrganization(
  options: ConsoleActionsOptions,
  { target: id, ifMatch }: ConsoleAction,
  change: (one: { readonly id: string; readonly ifMatch?: string; readonly dryRun: boolean }) => Promise<Organization>,
  member: 'state' | 'tier',
): Promise<PreparedAction> {
  const before = await getOrganization(options, id);
  const after = await change({ id, dryRun: true });
  const usable = await usableKeysOf(options, id);
  /** An operator has to see what a tier means. */
  const limitIn = (one: Organization) => {
    const { rule } = (member === 'tier' && ruleOf(options.configuration().config.limits, one)) || {};
    return rule && { limit: `${rule.requests} in ${rule.windowSeconds} s` };
  };
  return {
    organization: id,
    before: { [member]: before[member], ...limitIn(before) },
    after: { [member]: after[member], ...limitIn(after) },
    keys: { before: usable, after: usable },
    tag: organizationTag(before),
    carryOut: () => change({ id, ...(ifMatch !== undefined && { ifMatch }), dryRun: false }),
  };
}

async function prepareRevocation(
  options: ConsoleActionsOptions,
  actor: Actor,
  action: ConsoleAction,
): Promise<PreparedAction> {
  const nowMs = options.now();
  const { target: id, reason = '', allowLast = false, ifMatch } = action;
  const one = { id, organization: undefined, reason: reason || undefined };
  const before = await getKey(options, one);
  const isLastKey = await throwsLastKey(() => revokeKey(options, actor, { ...one, allowLast: false, dryRun: true }));
  const usable = await usableKeysOf(options, before.organization);
  const wasUsable = stateOf(before, nowMs) === 'active';
  return {
    organization: before.organization,
    before: { state: stateOf(before, nowMs) },
    after: { state: 'revoked' },
    keys: { before: usable, after: wasUsable ? usable - 1 : usable },
    isLastKey,
    tag: keyTag(before),
    carryOut: () => revokeKey(options, actor, { ...one, allowLast, ifMatch }),
  };
}

async function prepareReset(
  options: ConsoleActionsOptions,
  actor: Actor,
  { target: id }: ConsoleAction,
): Promise<PreparedAction> {
  const report = await options.limitUsage.show(id);
  if (report === undefined) throw new GatewayError('resource_missing');
  const used = report.limits.map(({ policy, key_id: key, used: units }) => {
    return [key === null ? policy : `${policy} of ${key}`, units] as const;
  });
  return {
    organization: id,
    before: Object.fromEntries(used),
    after: Object.fromEntries(used.map(([name]) => [name, 0])),
    carryOut: () => resetLimits(options, actor, { organization: id }),
  };
}

function prepareRetry(
  options: ConsoleActionsOptions,
  actor: Actor,
  { target: upstream }: ConsoleAction,
): PreparedAction {
  const known = options.credentialOf(upstream);
  if (known === undefined) throw new GatewayError('resource_missing');
  const { credential } = known;
  return {
    before: { credential: credential ?? 'none' },
    after: { credential: credential === undefined ? 'none' : CREDENTIAL_STATES[credential].afterRetry },
    carryOut: () => retryUpstream(options, actor, { upstream }),
  };
}

/**
 * Prepares a silence. `carryOut` writes it to the audit log. Afterwards, the process of the console (wiring/console.ts) puts it in force.
 */
async function prepareSilence(
  options: ConsoleActionsOptions,
  actor: Actor,
  { target: causes, seconds = 0, reason = '' }: ConsoleAction,
): Promise<PreparedAction> {
  const until = seconds === 0 ? null : new Date(options.now() + seconds * 1000).toISOString();
  const { author } = await readAuthority(options, actor);
  const details = { causes, after: { silent_until: until }, ...(reason !== '' && { reason }) };
  return {
    before: {},
    after: { silent_until: until },
    carryOut: async () => options.store.audit.append('alerts.silenced', author, details),
  };
}

function prepare(
  options: ConsoleActionsOptions,
  actor: Actor,
  action: ConsoleAction,
): PreparedAction | Promise<PreparedAction> {
  switch (action.action) {
    case 'suspend-organization':
      return prepareOrganization(options, action, (one) => suspendOrganization(options, actor, one), 'state');
    case 'resume-organization':
      return prepareOrganization(options, action, (one) => resumeOrganization(options, actor, one), 'state');
    case 'change-tier': {
      const patch = { tier: action.tier as string };
      return prepareOrganization(
        options,
        action,
        (one) => changeOrganization(options, actor, { ...one, patch }),
        'tier',
      );
    }
    case 'revoke-key':
      return prepareRevocation(options, actor, action);
    case 'reset-limits':
      return prepareReset(options, actor, action);
    case 'retry-upstream':
      return prepareRetry(options, actor, action);
    case 'silence-alerts':
      return prepareSilence(options, actor, action);
  }
}

async function throwsLastKey(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt();
    return false;
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'last_key') return true;
    throw cause;
  }
}

function toJson({ action, target, dryRun }: ConsoleAction, effect: Effect): object {
  const { organization = null, before, after, keys, isLastKey, tag } = effect;
  return {
    action,
    target,
    organization,
    dry_run: dryRun,
    before,
    after,
    ...(keys && { usable_keys: keys }),
    ...(isLastKey !== undefined && { last_key: isLastKey }),
    ...(tag !== undefined && { if_match: tag }),
  };
}

/** Makes the answer for an error of an action. An error that is not in the catalogue comes from a store that cannot be reached. */
function refusalOf(cause: unknown): ActionAnswer {
  const { code, entry } = cause instanceof GatewayError ? cause : new GatewayError('records_unavailable', { cause });
  const error = SENTENCES[code] ?? entry.message;
  return { status: entry.status, body: { code, error } };
}

/** Sentences for operators, by code, where the message for clients of the API would mislead an operator. */
const SENTENCES: Readonly<Record<string, string>> = {
  resource_missing: 'It does not exist.',
  reference_missing: 'There is no such tier.',
  precondition_failed: 'It has changed since you looked at it. This is how it is now.',
  last_key: 'It is the last usable key of its organization.',
  records_unavailable: 'The key store or the counters cannot be reached.',
};
