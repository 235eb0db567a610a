// The operator of the protocol `keys`: makes one change after another, waits for its confirmation as commands do, and tells the checker
// what it was told.

import { awaitConfirmations } from '../../../gateway/administration/confirmations.ts';
import { createDigestOf, keyFingerprint } from '../../../gateway/auth/api-key.ts';
import { createIssueKey, type IssuedKey } from '../../../gateway/auth/issue-key.ts';
import type { Instance, KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import type { Awaitable } from '../../../gateway/shared/awaitable.ts';
import type { AccessChecker } from '../checkers/access.ts';
import type { Deployment, Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';

const KEYS_PER_ORGANIZATION = 3;
const CHANGE_GAP_MS = 12_000;
/** An operator who works through a list makes this share of changes one right after another. */
const NEXT_CHANGE_GAP_MS = 200;
const NEXT_CHANGE_SHARES = [0.3, 0.8] as const;
const HURRIED_GAP_MS = 400;
/** A replica lacks no more than this, unless everything is lost. */
const LOST_TAIL_MS = 60_000;
/** A gateway has reported for the first time so long after it has opened its store. */
const FIRST_REPORT_MS = 5000;
/** A gateway that Redis has forgotten may let keys in for its grace and no longer: its clocks are too slow by no more than this. */
const LATE_MS = 1000;
/** Gateways report that they let keys in for so much longer than they do. */
const REPORTED_LONGER_MS = 17_000;
const JUMP_ALLOWED_MS = 1000;
/**
 * The share of changes with which an operator takes the last change of an organization back. Right after a failover this is often a change
 * that the new server never had.
 */
const TAKEN_BACK = 0.2;
const TAKEN_BACK_IN_A_HURRY = 0.6;
const ALL_KINDS = ['create', 'create', 'revoke', 'revoke', 'suspend', 'resume', 'resume', 'rotate'] as const;
/** One kind can hide what another would show. */
const SUSPENSIONS_ALONE = ['suspend', 'resume'] as const;

export const digestOf = createDigestOf('the pepper of the simulation');
const pepperFingerprint = keyFingerprint(digestOf);

interface OperatorOptions {
  readonly graceMs: number;
  /** All processes of gateways so far. */
  readonly started: ReadonlyMap<string, Started>;
}

export interface Started {
  readonly process: SimulatedProcess;
  /** When it has opened its store; Infinity: not yet. */
  openedMs: number;
}

/** A gateway as commands name it: the next process in the same place is another one. */
export const gatewayAt = ({ name, starts }: Place) => nameOf({ host: name, pid: starts });
const nameOf = ({ host, pid }: Pick<Instance, 'host' | 'pid'>) => `${host}, pid ${pid}`;

/** A process whose store cannot be opened ends, and is started again. */
export async function openKeyStore(process: SimulatedProcess, connect: ConnectRedis): Promise<KeyStore> {
  const { machine } = process;
  for (;;) {
    try {
      return await openRedisStore({ url: 'redis://simulated', pepperFingerprint, now: machine.now, connect, machine });
    } catch {
      await machine.sleep(1000);
    }
  }
}

/** Changes one thing after another, each by a connection of its own as a command has it. */
export function createOperator(deployment: Deployment, checker: AccessChecker, { graceMs, started }: OperatorOptions) {
  const { world } = deployment;
  const random = world.random.named('operator');
  const process = deployment.helper('operator');
  const { machine } = process;
  const issue = createIssueKey({ digestOf, randomBytes: machine.randomBytes, now: machine.now });
  const organizations = ['org_a', 'org_b'].map(
    (id): Organization => ({ id, name: id, tier: 'free', state: 'active', contacts: [], operator: false }),
  );
  let keys = organizations.flatMap(({ id }) => Array.from({ length: KEYS_PER_ORGANIZATION }, () => newKey(id)));
  const revoked = new Set<string>();
  const nextChangeShare = random.pick(NEXT_CHANGE_SHARES);
  const kinds = random.chance(0.3) ? SUSPENSIONS_ALONE : ALL_KINDS;
  let changes = 0;
  let lastRuled: { readonly organization: string; readonly kind: 'suspend' | 'resume' } | undefined;

  function newKey(organization: string): IssuedKey {
    const request = {
      organization,
      mode: 'live',
      name: 'key',
      scopes: ['*'],
      allowedCidrs: [],
      expiresAtMs: undefined,
    } as const;
    return issue({ ...request, by: 'ada' });
  }

  /**
   * Makes one change, and tells the checker what the author learns. Throws if Redis does not know what is to be changed: it may have lost
   * that.
   */
  async function change(
    store: KeyStore,
    subjects: readonly string[],
    allows: boolean,
    make: () => Awaitable<unknown>,
    waits: boolean,
  ): Promise<void> {
    const told = subjects.map((subject) => checker.begin(subject, allows));
    if (!(await make())) throw new Error(`${subjects[0]} is not there`);
    for (const each of told) each.returned();
    changes += 1;
    world.note('operator', `${allows ? 'allowed' : 'refused'} ${subjects[0]}`);
    if (!waits) return;
    const askedMs = world.now();
    const { confirmed, unconfirmed } = await awaitConfirmations(store, 10_000, machine);
    const exceptions = new Map(unconfirmed.map((one) => [nameOf(one), world.now() + one.graceMs - one.silentMs]));
    world.note('operator', `${subjects[0]} is confirmed, except by ${[...exceptions.keys()].join(' ') || 'none'}`);
    checkProgress(exceptions, askedMs);
    for (const gateway of gatewaysBut(confirmed))
      if (!isKnown(gateway)) exceptions.set(gateway, world.now() + graceMs + LATE_MS);
    for (const each of told) each.confirmed(exceptions);
  }

  function gatewaysBut(confirmed: readonly Instance[]): readonly string[] {
    const names = new Set(confirmed.map(nameOf));
    return deployment.places.map(gatewayAt).filter((name) => !names.has(name));
  }

  /**
   * Whether Redis has to know of a gateway, and for how long: one that is cut off is listed until its grace is over, unless Redis has lost
   * all reports, or the first one after its start. What gateways have confirmed is true all the same.
   */
  function isKnown(gateway: string): boolean {
    const { redis } = deployment;
    const fromMs = world.now() - graceMs - REPORTED_LONGER_MS;
    const openedMs = started.get(gateway)?.openedMs ?? Number.POSITIVE_INFINITY;
    const isLost = redis
      .losses()
      .some(
        ({ atMs, sinceMs, tailMs }) => atMs > fromMs && (tailMs > LOST_TAIL_MS || openedMs > sinceMs - FIRST_REPORT_MS),
      );
    return !isLost && !redis.jumps().some(({ atMs, byMs }) => atMs > fromMs && byMs > JUMP_ALLOWED_MS);
  }

  /** In order, every gateway confirms. One that had ended is not listed, unless Redis has lost its removal. */
  function checkProgress(exceptions: ReadonlyMap<string, number>, askedMs: number): void {
    const isCalm = deployment.disturbances.isCalmSince(world.now() - 30_000);
    for (const [name, { process }] of started) {
      if (!exceptions.has(name)) continue;
      if (isCalm && process.isRunning()) world.violate('progress', `${name} does not confirm a change`);
      if (process.endedMs() < askedMs && !isLostSince(process.endedMs()))
        world.violate('progress', `${name} is listed after its end`);
    }
  }

  function isLostSince(atMs: number): boolean {
    return deployment.redis.losses().some((loss) => loss.atMs >= atMs && loss.sinceMs <= atMs);
  }

  async function changeSomething(isInAHurry: boolean): Promise<void> {
    const store = await openKeyStore(process, deployment.connect(process));
    try {
      await pickChange(store, isInAHurry ? TAKEN_BACK_IN_A_HURRY : TAKEN_BACK);
    } catch (error) {
      world.note('operator', `fails: ${(error as Error).message.slice(0, 60)}`);
    } finally {
      await store.close();
    }
  }

  async function pickChange(store: KeyStore, takenBack: number): Promise<void> {
    const waits = random.chance(0.7);
    const organization = random.pick(organizations).id;
    const lost = await store.organizations.get(organization);
    if (lost === undefined) return importAll(store);
    if (lastRuled !== undefined && random.chance(takenBack))
      return rule(store, lastRuled.organization, lastRuled.kind === 'suspend' ? 'resume' : 'suspend', waits);
    const kind = random.pick(kinds);
    if (kind === 'suspend' || kind === 'resume') return rule(store, organization, kind, waits);
    const at = placeOfKey(kind !== 'create');
    const old = keys[at] as IssuedKey;
    if (kind === 'revoke') {
      revoked.add(old.record.id);
      return change(store, [old.record.id], false, () => store.keys.revoke(old.record.id, 'ada', undefined), waits);
    }
    // Clients may present it before it exists.
    const made = newKey(old.record.organization);
    keys = keys.with(at, made);
    await machine.sleep(random.between(0, 5000));
    if (kind === 'create') return change(store, [made.record.id], true, () => store.keys.create(made.record), waits);
    const told = checker.begin(old.record.id, false);
    const overlapMs = 20_000;
    await change(
      store,
      [made.record.id],
      true,
      () => store.keys.rotate(old.record.id, made.record, machine.now() + overlapMs),
      waits,
    );
    await machine.sleep(overlapMs + 5000);
    told.returned();
  }

  function rule(store: KeyStore, organization: string, kind: 'suspend' | 'resume', waits: boolean): Promise<void> {
    lastRuled = { organization, kind };
    const make = () => store.organizations[kind](organization, 'ada');
    return change(store, [organization], kind === 'resume', make, waits);
  }

  /** Mostly a key for which the change makes a difference. */
  function placeOfKey(works: boolean): number {
    const fitting = keys.flatMap(({ record }, at) => (revoked.has(record.id) === works ? [] : [at]));
    return random.pick(fitting.length > 0 && random.chance(0.8) ? fitting : [...keys.keys()]);
  }

  async function importAll(store: KeyStore): Promise<void> {
    const subjects = [...organizations.map(({ id }) => id), ...keys.map(({ record }) => record.id)];
    await change(
      store,
      subjects,
      true,
      () =>
        store.import(
          organizations,
          keys.map(({ record }) => record),
          'ada',
        ),
      false,
    );
  }

  async function run(): Promise<void> {
    for (let isInAHurry = false; ; ) {
      await changeSomething(isInAHurry);
      const gapMs = random.chance(nextChangeShare) ? NEXT_CHANGE_GAP_MS : CHANGE_GAP_MS;
      isInAHurry = await pause(random.between(0, 2 * gapMs));
    }
  }

  /** After a failover an operator may be in a hurry, while gateways are connecting again. Returns whether that ended the pause. */
  function pause(forMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    void machine.sleep(forMs).then(() => resolve(false));
    deployment.redis.whenHandedOver(() => {
      if (random.chance(0.5)) void machine.sleep(random.between(0, HURRIED_GAP_MS)).then(() => resolve(true));
    });
    return promise;
  }

  return {
    begin: () => void run(),
    keys: () => keys,
    finish() {
      if (changes === 0) world.violate('progress', 'no change was made at all');
    },
  };
}
