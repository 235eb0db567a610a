// The whole of it: load, faults by a seed, and a judge that has seen every answer.

import { setTimeout as sleep } from 'node:timers/promises';
import { createDisturbances, type Disturbance } from './disturbances.ts';
import { type Exchange, isFailure, labelOf } from './exchanges.ts';
import { FAULTS, type Fault } from './faults.ts';
import { openJournal } from './journal.ts';
import { createJudge, type Verdict } from './judge.ts';
import { breakOnce, breakUntil } from './lanes.ts';
import { runClients } from './load.ts';
import { type MailTally, runMailClients } from './mail-clients.ts';
import { type ProcessMemory, watchMemory } from './memory.ts';
import { createRandom } from './random.ts';
import { anyOrder, oneByOne } from './schedule.ts';
import { type Stand, startStand } from './stand.ts';

export interface TrialOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** Of the entries, spread over the organizations. */
  readonly clients: number;
  tell(line: string): void;
}

/** The clients' view of one fault that came alone. */
interface Recovery {
  readonly fault: string;
  readonly lastedMs: number;
  readonly sent: number;
  readonly failed: number;
  /** The kind, with how many of each. */
  readonly failedAs: string;
  /** From the end of the fault to that of the last failure; 0: there was none after it. */
  readonly recoveredMs: number;
  readonly slowestMs: number;
}

export interface TrialResult extends Verdict {
  /** Wrong answers that no HTTP/1.1 client can avoid: unasked bytes that a request crossed on its way to the upstream. */
  readonly crossings: readonly string[];
  readonly mail: MailTally;
  readonly memory: readonly ProcessMemory[];
  readonly recoveries: readonly Recovery[];
  /** How often each thing was broken. */
  readonly faults: Readonly<Record<string, number>>;
}

interface Seen {
  readonly sentAt: number;
  readonly endedAt: number;
  /** The reason, if it failed. */
  readonly failure: string | undefined;
}

const WARM_UP_MS = 4000;
/** With nothing broken, after each fault that comes alone and at the end: longer than anything may be explained by a fault. */
const ALONE_PAUSE_MS = 5000;
const CALM_MS = 10_000;
/** In runs that are long enough for it, everything comes alone at first. */
const LONG_MS = 300_000;
/** For memory to be comparable, the workers of the end have to be there for most of the time. */
const REPLACED_SHARE = 0.4;

export async function chaosTrial(options: TrialOptions): Promise<TrialResult> {
  const stand = await startStand();
  try {
    return await runTrial(stand, options);
  } catch (error) {
    for (const line of stand.gateway.output().split('\n').slice(-40)) options.tell(line);
    throw error;
  } finally {
    await stand.close();
  }
}

async function runTrial(stand: Stand, { seed, durationMs, clients, tell }: TrialOptions): Promise<TrialResult> {
  const startedAt = Date.now();
  const told = (line: string) => tell(`${((Date.now() - startedAt) / 1000).toFixed(1)} s  ${line}`);
  const disturbances = createDisturbances(Date.now);
  const judge = createJudge(disturbances);
  const seen: Seen[] = [];
  let over = false;
  const watched = {
    note(exchange: Exchange) {
      judge.note(exchange);
      seen.push({
        sentAt: exchange.sentAt,
        endedAt: exchange.endedAt,
        failure: isFailure(exchange) ? labelOf(exchange) : undefined,
      });
    },
    isOver: () => over,
  };
  const memory = watchMemory(stand.gateway.child.pid as number, () => sandboxOf(stand));
  const load = runClients(stand, { clients, seed, ...watched });
  const mail = runMailClients({
    port: stand.gateway.port,
    key: stand.mailKey,
    disturbances,
    object: judge.object,
    ...watched,
  });
  const lanes = { stand, disturbances, tell: told };
  const recoveries: Recovery[] = [];

  await sleep(WARM_UP_MS);
  if (durationMs >= LONG_MS) {
    const random = createRandom(seed);
    for (const step of oneByOne(FAULTS, random, ALONE_PAUSE_MS)) {
      const disturbance = await breakOnce(lanes, step, random);
      await sleep(step.pauseMs);
      const during = seen.filter(({ sentAt }) => sentAt >= disturbance.beganAt);
      recoveries.push(recoveryOf(disturbance, during));
    }
  }
  const lane = (which: Fault['lane'], laneSeed: number) => {
    const random = createRandom(laneSeed);
    const faults = FAULTS.filter((fault) => fault.lane === which);
    const mayReplace = () => durationMs < LONG_MS || Date.now() - startedAt < durationMs * REPLACED_SHARE;
    return breakUntil(
      lanes,
      anyOrder(faults, random),
      random,
      startedAt + durationMs - CALM_MS,
      (fault) => fault.replacesWorkers !== true || mayReplace(),
    );
  };
  await Promise.all([lane('targets', seed + 1), lane('platform', seed + 2)]);
  told('nothing is broken any more');
  await sleep(CALM_MS);
  over = true;
  await load;
  const tally = await mail;
  const grown = memory.stop();
  const journal = openJournal(stand.journal);
  const verdict = judge.conclude(journal.executions());
  journal.close();
  const kills = disturbances.all().filter(({ name }) => name === 'worker killed').length;
  const tokens = stand.targets.flatMap(({ relay }) => [...relay.crossed()]);
  const isCrossing = (what: string) => tokens.some((token) => what.includes(`${token}"`) || what.includes(`${token} `));
  const crossings = verdict.wrong.filter(isCrossing);
  const misjudged = verdict.wrong.filter((what) => !isCrossing(what));
  const wrong = [...misjudged, ...faultsInLog(stand.gateway.output(), kills), ...grown.flatMap(faultOfMemory)];
  const faults = Object.groupBy(disturbances.all(), ({ name }) => name);
  return {
    ...verdict,
    wrong,
    crossings,
    mail: tally,
    memory: grown,
    recoveries,
    faults: Object.fromEntries(Object.entries(faults).map(([name, all]) => [name, all?.length ?? 0])),
  };
}

function recoveryOf({ name, beganAt, endedAt }: Disturbance, during: readonly Seen[]): Recovery {
  const failed = during.filter((one) => one.failure !== undefined);
  const byFailure = Object.entries(Object.groupBy(failed, (one) => one.failure as string));
  return {
    fault: name,
    lastedMs: endedAt - beganAt,
    sent: during.length,
    failed: failed.length,
    failedAs: byFailure.map(([failure, all]) => `${all?.length ?? 0} ${failure}`).join(', '),
    recoveredMs: Math.max(0, ...failed.map((one) => one.endedAt - endedAt)),
    slowestMs: Math.max(0, ...during.map((one) => one.endedAt - one.sentAt)),
  };
}

function sandboxOf(stand: Stand): number[] {
  try {
    return [stand.sandboxPid()];
  } catch {
    return [];
  }
}

/** Lines that must not be there, for any fault from outside. */
function faultsInLog(output: string, kills: number): string[] {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { level: number; msg?: string; code?: string });
  const fatal = lines.filter(({ level, code }) => level === 60 || code === 'internal_error');
  const deaths = lines.filter(({ msg }) => msg?.startsWith('a worker died') === true);
  const faults = fatal.map((line) => `in the log: ${JSON.stringify(line)}`);
  if (deaths.length > kills)
    faults.push(`${deaths.length} workers died, ${kills} were killed: ${JSON.stringify(deaths)}`);
  return faults;
}

/** The growth allowed to a process after its first minute: a quarter, and 40 MB at least. */
function faultOfMemory({ process, minutes, from, to }: ProcessMemory): string[] {
  return to <= Math.max(from * 1.25, from + 40)
    ? []
    : [`${process} grew from ${from} to ${to} MB in ${minutes} minutes`];
}
