// Use: gateways count the requests of some organizations, write what they counted to one Redis, and answer questions about it.

import type { Operation } from '../../../gateway/exchange/operation.ts';
import type { UsagePage, UsageQuestion } from '../../../gateway/usage/report.ts';
import { openUsage, type Usage } from '../../../gateway/usage/usage.ts';
import { caller, operation, organization } from '../../unit/limits/parties.ts';
import { UsageChecker } from '../checkers/usage.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { BEGINNING_MS, type World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';

const ORGANIZATIONS = ['org_a', 'org_b', 'org_c'] as const;
const REQUEST_GAP_MS = 500;
const QUESTION_GAP_MS = 8000;
const DAY_MS = 86_400_000;
const KEEP_DAYS = 400;

export const usageProtocol: Protocol = {
  name: 'usage',
  processesMax: 4,
  calmMs: 5 * 60_000,
  faults: {
    pause: 2,
    suspend: 1,
    hesitate: 2,
    kill: 3,
    stop: 3,
    cut: 3,
    break: 3,
    slow: 1,
    'redis pause': 2,
    'redis restart': 2,
    'redis restart without the tail': 1,
    'redis restart empty': 1,
    'redis failover': 1,
    'redis failover to a late replica': 1,
    'redis lag': 1,
    'redis full': 1,
  },
  start: startUsage,
};

interface Gateway {
  readonly process: SimulatedProcess;
  readonly usage: Usage;
  readonly callers: ReadonlyMap<string, readonly ReturnType<typeof caller>[]>;
}

const operations: readonly Operation[] = ['read', 'write', 'list'].map((id) => operation(id));

function startUsage(world: World, processes: number): Running {
  const random = world.random.named('usage');
  /** With little room, some requests are counted without operation and key. */
  const pairsMax = random.pick([3, 10, undefined]);
  const gateways = new Map<Place, Gateway>();
  let answers = 0;

  const deployment = new Deployment(world, processes, (place, process, connect) => {
    const { machine } = process;
    const { now } = machine;
    const opened = openUsage({
      ...{
        redisUrl: 'redis://simulated',
        dataDirectory: '',
        connect,
        keepDays: () => KEEP_DAYS,
        now,
        machine,
        pairsMax,
      },
      onChange: ({ state }) => world.note(place.name, `the usage store is ${state}`),
    });
    const callers = new Map(
      ORGANIZATIONS.map((id) => [id, ['1', '2', '3'].map((key) => caller(`key_${key}`, organization(id)))]),
    );
    void opened.then((usage) => {
      gateways.set(place, { process, usage, callers });
      place.stop = () => {
        gateways.delete(place);
        return usage.close();
      };
    });
  });
  const checker = new UsageChecker(deployment);

  function repeatedly(gapMs: number, work: (gateway: Gateway, place: Place) => void): void {
    world.after(random.between(0, 2 * gapMs), () => {
      const place = random.pick(deployment.places);
      const gateway = gateways.get(place);
      if (gateway?.process === place.process && place.process.isRunning()) work(gateway, place);
      repeatedly(gapMs, work);
    });
  }

  function count({ process, usage, callers }: Gateway): void {
    const id = random.pick(ORGANIZATIONS);
    for (let requests = random.chance(0.1) ? 20 : 1; requests > 0; requests -= 1) {
      const by = random.pick(callers.get(id) ?? []);
      usage.count({ caller: by, operation: random.pick(operations), status: random.pick([200, 404, 503]) });
      checker.counted(id, process);
    }
  }

  async function ask({ process, usage }: Gateway, place: Place): Promise<void> {
    const id = random.pick(ORGANIZATIONS);
    const askedMs = world.now();
    try {
      const { requests, completeUntilMs } = await sumOf(usage, id);
      world.note(place.name, `tells of ${requests} requests of ${id}`);
      answers += 1;
      checker.answered({ place: place.name, process, organization: id, askedMs, requests, completeUntilMs });
    } catch (error) {
      world.note(place.name, `does not answer: ${(error as Error).message.slice(0, 60)}`);
      if (deployment.disturbances.isCalmSince(askedMs))
        world.violate('progress', `${place.name} does not answer, although nothing is out of order`);
    }
  }

  /** As `getUsage` does it: all pages of all time. */
  async function sumOf(usage: Usage, id: string) {
    const question: UsageQuestion = {
      ...{ organization: id, unit: random.pick(['hour', 'day', 'month'] as const), limit: random.pick([2, 1000]) },
      ...{ fromMs: BEGINNING_MS - DAY_MS, toMs: BEGINNING_MS + DAY_MS },
      groups: random.pick([[], ['operation'], ['key', 'status_class']] as const),
    };
    let requests = 0;
    let page: UsagePage | undefined;
    let completeUntilMs = Number.POSITIVE_INFINITY;
    do {
      page = await usage.page({ ...question, position: page?.next });
      for (const sum of page.sums) requests += sum.requests;
      completeUntilMs = Math.min(completeUntilMs, page.completeUntilMs);
    } while (page.next !== undefined);
    return { requests, completeUntilMs };
  }

  world.after(1000, () => {
    repeatedly(REQUEST_GAP_MS / processes, count);
    repeatedly(QUESTION_GAP_MS, (gateway, place) => {
      gateway.process.enter('message', () => void ask(gateway, place));
    });
  });

  return {
    deployment,
    finish() {
      if (answers === 0) world.violate('progress', 'no question was answered at all');
    },
  };
}
