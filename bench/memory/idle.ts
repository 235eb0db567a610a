// What an idle process takes, and what that consists of: after its start, and after load; the gateway beside the floor.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { LIST, requestsOf } from '../scenarios.ts';
import { besideFloor } from './beside-floor.ts';
import { type Part, partsOf } from './parts.ts';
import { megabytes } from './verdict.ts';

/** Time to be idle before memory is read: the gateway gives memory back after two looks of 5 s. */
const REST_MS = 12_000;
const SIGNAL = 'SIGPWR';
const ATTEMPTS = 100;

export type IdleRow = Readonly<
  Record<'part' | 'floor' | 'gateway' | 'floor after load' | 'gateway after load', string>
>;

/** @param seconds of load between the two readings */
export async function idle(seconds: number, progress: (text: string) => void): Promise<IdleRow[]> {
  const [taken] = await besideFloor(
    1,
    async (contestant, { directory }) => {
      progress(`idle after its start: ${contestant.name}`);
      await sleep(REST_MS);
      const fresh = await partsNow(contestant, directory);
      progress(`idle after ${seconds} s of load: ${contestant.name}`);
      const { port } = contestant;
      const requests = requestsOf(LIST, port, contestant.keys);
      await runLoad({ port, connections: 64, durationMs: seconds * 1000, requests });
      await sleep(REST_MS);
      return { fresh, used: await partsNow(contestant, directory) };
    },
    // The report names the process's connections by default, and would resolve their names.
    (directory) => ({
      NODE_OPTIONS: `--report-on-signal --report-signal=${SIGNAL} --report-dir=${directory} --report-exclude-network`,
    }),
  );
  if (taken === undefined) return [];
  const { floor, gateway } = taken;
  const columns = {
    floor: floor.fresh,
    gateway: gateway.fresh,
    'floor after load': floor.used,
    'gateway after load': gateway.used,
  };
  return floor.fresh.flatMap(({ part }) => {
    const bytesOf = (column: readonly Part[]) => column.find((one) => one.part === part)?.bytes ?? 0;
    if (Object.values(columns).every((column) => bytesOf(column) === 0)) return [];
    const cells = Object.entries(columns).map(([name, column]) => [name, megabytes(bytesOf(column))]);
    return [{ part, ...Object.fromEntries(cells) } as IdleRow];
  });
}

/** Read before the report is made, which takes memory itself. */
async function partsNow({ process: child }: Contestant, directory: string): Promise<Part[]> {
  const smaps = readFileSync(`/proc/${child.pid}/smaps`, 'utf8');
  child.kill(SIGNAL);
  return partsOf(smaps, await reportIn(directory));
}

async function reportIn(directory: string) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await sleep(100);
    const name = existsSync(directory) && readdirSync(directory).find((one) => one.startsWith('report.'));
    if (!name) continue;
    const report = parsed(readFileSync(join(directory, name), 'utf8'));
    if (report === undefined) continue;
    rmSync(join(directory, name));
    return report;
  }
  throw new Error(`The process wrote no report on ${SIGNAL}.`);
}

/** Nothing while the file is being written. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
