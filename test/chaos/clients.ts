// Clients of the entries: each acts sequentially, remembers its answers, and sends keyed writes again until it knows their outcome.

import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMEOUT_MS } from './contract.ts';
import { type Exchange, errorOf, isSuccess, type Kind } from './exchanges.ts';
import type { State } from './journal.ts';
import type { Random } from './random.ts';
import { send } from './sending.ts';

export interface ClientOptions {
  readonly port: number;
  readonly organization: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
  /** Of all clients of this organization: the highest ordinal that any of them has received. */
  readonly told: { ordinal: number };
  /** How long it rests between two things, milliseconds. */
  readonly pauseMs?: readonly [least: number, most: number];
  note(exchange: Exchange): void;
  isOver(): boolean;
}

/** The time that an exchange may take beyond the deadline of the upstream before it counts as hanging. */
export const MARGIN_MS = 4000;
const PAUSE_MS = [60, 140] as const;
/** For as long a client tries to learn the outcome of a keyed write: a key stays locked for nine seconds after a kill. */
const REPEAT_FOR_MS = 20_000;
/** The share of its requests that it gives up with a reset. It then does not know the outcome of a keyed write, and sends it again. */
const LEAVING_SHARE = 0.03;
/** So many of its entries does a client look after. */
const KEPT = 30;
/** Of one entry in ten. */
const LONG = 8000;

interface Ask {
  readonly kind: Kind;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly more?: Partial<Exchange>;
}

/** Resolves when it is over. */
export async function runClient(options: ClientOptions): Promise<void> {
  const { random, told, organization } = options;
  const agent = new Agent({ keepAlive: random.next() < 0.8, maxSockets: 1 });
  /** Versions by id, as far as this client has seen them. */
  const known = new Map<string, number>();

  async function ask({ kind, method, path, body, more = {} }: Ask): Promise<Exchange> {
    const sentAt = Date.now();
    const key: Record<string, string> = more.key === undefined ? {} : { 'idempotency-key': more.key };
    const headers = { ...options.headers, ...key };
    const { port } = options;
    const leaveAfterMs = random.next() < LEAVING_SHARE ? random.between(0, 20) : undefined;
    const deadlineMs = TIMEOUT_MS + MARGIN_MS;
    const outcome = await send({ port, agent, method, path, headers, body, deadlineMs, leaveAfterMs });
    const exchange = { kind, organization, ...more, sentAt, endedAt: Date.now(), outcome };
    options.note(exchange);
    learn(exchange);
    return exchange;
  }

  function learn({ kind, outcome }: Exchange): void {
    if (outcome.kind !== 'answered' || outcome.status >= 300 || kind === 'list') return;
    const { id, version, ordinal } = JSON.parse(outcome.body) as State;
    known.set(id, Math.max(version, known.get(id) ?? 0));
    told.ordinal = Math.max(told.ordinal, ordinal);
    const [oldest] = known.keys();
    if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
  }

  async function write(isKeyed: boolean, entry: string | undefined, isPlain = false): Promise<void> {
    const id = randomUUID();
    const body = { write: id, ...(entry === undefined && random.next() < 0.1 ? { size: LONG } : {}) };
    const [kind, method, path] =
      entry === undefined
        ? (['create', 'POST', isPlain ? '/v1/plain-entries' : '/v1/entries'] as const)
        : (['update', 'PATCH', `/v1/entries/${entry}`] as const);
    const about = entry === undefined ? {} : { entry };
    const asked = { kind, method, path, body, more: { write: id, ...about, isPlain, ...(isKeyed && { key: id }) } };
    const startedAt = Date.now();
    let exchange = await ask(asked);
    if (!isKeyed) return;
    while (mayBeRepeated(exchange) && Date.now() - startedAt < REPEAT_FOR_MS) {
      await sleep(pauseAfter(exchange));
      exchange = await ask(asked);
    }
    if (isSuccess(exchange) && random.next() < 0.1) await ask(asked);
  }

  async function act(): Promise<void> {
    const dice = random.next();
    const entry = known.size === 0 ? undefined : random.pick([...known.keys()]);
    if (entry === undefined || dice < 0.15) await write(true, undefined, random.next() < 0.5);
    else if (dice < 0.25) await write(false, undefined);
    else if (dice < 0.33) await write(true, entry);
    else if (dice < 0.4) await write(false, entry);
    else if (dice < 0.5) {
      const more = { atLeast: told.ordinal };
      await ask({ kind: 'list', method: 'GET', path: '/v1/entries?limit=20', more });
    } else {
      const more = { entry, atLeast: known.get(entry) as number };
      await ask({ kind: 'get', method: 'GET', path: `/v1/entries/${entry}`, more });
    }
  }

  while (!options.isOver()) {
    await act();
    await sleep(random.between(...(options.pauseMs ?? PAUSE_MS)));
  }
  agent.destroy();
}

/** Its outcome is unknown, or the gateway states that it may be sent again. */
function mayBeRepeated({ outcome }: Exchange): boolean {
  if (outcome.kind !== 'answered') return true;
  return outcome.status >= 300 && errorOf(outcome.body)?.retryable === true;
}

function pauseAfter({ outcome }: Exchange): number {
  const seconds = outcome.kind === 'answered' ? Number(outcome.headers['retry-after'] ?? 0) : 0;
  return Math.min(2000, Math.max(200, seconds * 1000));
}
