// The bound on keys: people make, rotate and revoke keys of one organization through several gateways at once, which is never to have more
// keys that work than `keys.perOrganizationMax`.

import { createDigestOf, keyFingerprint } from '../../../gateway/auth/api-key.ts';
import { createIssueKey } from '../../../gateway/auth/issue-key.ts';
import { ConditionFailed, type KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import { BoundChecker } from '../checkers/bound.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';

const ORGANIZATION = 'org_a';
const BOUNDS = [1, 2, 5] as const;
const RECORDS_MAX = 100_000;
const GAP_MS = 4000;
/** So many ask at once, sometimes. */
const TOGETHER = 6;

const digestOf = createDigestOf('the pepper of the simulation');
const pepperFingerprint = keyFingerprint(digestOf);

export const boundProtocol: Protocol = {
  name: 'bound',
  processesMax: 4,
  calmMs: 60_000,
  faults: {
    pause: 2,
    suspend: 1,
    hesitate: 3,
    kill: 2,
    cut: 2,
    break: 3,
    slow: 1,
    'redis pause': 2,
    'redis restart': 1,
    'redis restart without the tail': 1,
    'redis failover': 1,
    'redis failover to a late replica': 1,
    'redis full': 1,
  },
  start: startBound,
};

interface Gateway {
  readonly process: SimulatedProcess;
  readonly store: KeyStore;
}

function startBound(world: World, processes: number): Running {
  const random = world.random.named('bound');
  const working = random.pick(BOUNDS);
  const most = { working, records: RECORDS_MAX };
  const gateways = new Map<Place, Gateway>();
  let made = 0;

  const deployment = new Deployment(world, processes, (place, process, connect) => {
    const { machine } = process;
    const options = { url: 'redis://simulated', pepperFingerprint, now: machine.now, connect, machine };
    openRedisStore(options).then(
      async (store) => {
        await Promise.resolve(store.organizations.create(organization, 'ada')).catch(() => undefined);
        gateways.set(place, { process, store });
      },
      (error: Error) => world.note(place.name, `does not start: ${error.message.slice(0, 60)}`),
    );
  });
  const checker = new BoundChecker(deployment, working);

  function recordIn({ process: { machine } }: Gateway) {
    const issue = createIssueKey({ digestOf, randomBytes: machine.randomBytes, now: machine.now });
    const request = { organization: ORGANIZATION, mode: 'live', name: 'key', scopes: ['*'], by: 'ada' } as const;
    return issue({ ...request, allowedCidrs: [], expiresAtMs: undefined }).record;
  }

  async function create(gateway: Gateway, place: Place): Promise<void> {
    const record = recordIn(gateway);
    const answer = checker.asked(record.id);
    const isMade = await orRefused(() => gateway.store.keys.create(record, 'ada', { most }), 1, answer);
    world.note(place.name, `makes ${record.id}: ${isMade}`);
    if (isMade === false) answer.notMade();
    else if (isMade === true) noteMade(answer);
  }

  async function rotate(gateway: Gateway, id: string): Promise<void> {
    const record = recordIn(gateway);
    const overlapMs = random.pick([0, 20_000]);
    const answer = checker.asked(record.id, id);
    const confirm = checker.ends(id, world.now() + overlapMs);
    const endsAtMs = gateway.process.machine.now() + overlapMs;
    const needed = overlapMs === 0 ? 1 : 2;
    const old = await orRefused(
      async () => (await gateway.store.keys.rotate(id, record, endsAtMs, 'ada', { most })) ?? false,
      needed,
      answer,
    );
    if (old === false) answer.notMade();
    else if (old !== undefined) {
      confirm();
      noteMade(answer);
    }
  }

  function noteMade(answer: ReturnType<BoundChecker['asked']>): void {
    made += 1;
    answer.made();
  }

  /** Undefined: it was refused. Rejects if the outcome is unknown. */
  async function orRefused<T>(
    change: () => T | Promise<T>,
    needed: number,
    answer: ReturnType<BoundChecker['asked']>,
  ): Promise<T | undefined> {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      answer.refused(needed);
      return undefined;
    }
  }

  async function revoke({ store }: Gateway, id: string): Promise<void> {
    const confirm = checker.ends(id);
    if ((await store.keys.revoke(id, 'ada', undefined)) !== undefined) confirm();
  }

  function ask(): void {
    for (let count = random.chance(0.3) ? TOGETHER : 1; count > 0; count -= 1) {
      const place = random.pick(deployment.places);
      const gateway = gateways.get(place);
      if (gateway === undefined || gateway.process !== place.process) continue;
      const id = random.pick([undefined, ...checker.working()]);
      const work = random.pick(
        id === undefined ? [create] : [create, create, () => rotate(gateway, id), () => revoke(gateway, id)],
      );
      gateway.process.enter('message', () => {
        work(gateway, place).catch((error: Error) => world.note(place.name, `fails: ${error.message.slice(0, 60)}`));
      });
    }
    world.after(random.between(0, 2 * GAP_MS), ask);
  }
  world.after(2000, ask);

  return {
    deployment,
    finish() {
      if (made === 0) world.violate('progress', 'no key was made at all');
    },
  };
}

const organization: Organization = {
  ...{ id: ORGANIZATION, name: ORGANIZATION, tier: 'free', state: 'active', contacts: [], operator: false },
};
