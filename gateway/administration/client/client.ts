// The client of a remote gateway, for commands. It calls the operations of the gateway's own contract (openapi/gateway/), and retries a
// request whose answer was lost. Each change has an Idempotency-Key, and happens once.

import { randomUUID } from 'node:crypto';
import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../shared/is-record.ts';
import { exchangeOnce, type OneAnswer, TooLate, TooLong } from './one-exchange.ts';
import type { AnswerMembers } from './records.ts';
import type { ServerAddress } from './server-address.ts';
import { foreign, otherContract, refusalOf, ServerProblem, unsentProblem } from './server-problem.ts';

const ATTEMPTS = 3;
/** Doubled with each attempt. */
const PAUSE_MS = 250;
/** The longest pause. If the server asks for a longer pause, the command gives up. */
const PAUSE_MAX_MS = 20_000;
/** The deadline of one request. It is longer than the gateway lets an operation take, and longer than the longest `wait`. */
const PATIENCE_MS = 30_000;

interface AdministrationClientOptions {
  readonly address: ServerAddress;
  readonly key: string;
  /** Version of this program. */
  readonly version: string;
  readonly patienceMs?: number;
  readonly pauseMs?: number;
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface RequestOptions {
  readonly query?: Query;
  readonly body?: AnswerMembers;
  /** The tag of the record. The change is refused with precondition_failed unless the record still has this tag. */
  readonly ifMatch?: string | undefined;
}

export interface AdministrationClient {
  /** The address of the server, for messages. */
  readonly server: string;
  /**
   * Resolves with the body of a successful answer. Rejects with ServerProblem.
   *
   * @param path the path below `/gateway/v1`
   */
  ask(method: 'GET' | 'POST' | 'PATCH', path: string, asked?: RequestOptions): Promise<AnswerMembers>;
  /**
   * Reads a record before it is changed. `etag` is the value for `ifMatch`; undefined if a proxy has removed the header. Rejects as `ask`
   * does.
   */
  read(path: string): Promise<{ readonly members: AnswerMembers; readonly etag: string | undefined }>;
  /** Yields the pages of a list. Rejects as `ask` does. */
  pages(path: string, query: Query): AsyncGenerator<ListPage>;
  close(): void;
}

interface ListPage {
  readonly data: readonly AnswerMembers[];
  /** Cursor of the next page; undefined on the last. */
  readonly cursor: string | undefined;
  /** The whole answer. */
  readonly body: AnswerMembers;
}

export function createAdministrationClient(options: AdministrationClientOptions): AdministrationClient {
  const { address, key, version, patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS } = options;
  const server = address.text;
  const agent =
    address.protocol === 'https:' ? new SecureAgent({ keepAlive: true }) : new PlainAgent({ keepAlive: true });

  async function exchange(
    method: string,
    path: string,
    { query = {}, body, ifMatch }: RequestOptions = {},
  ): Promise<Success> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json',
      'user-agent': `gateway/${version}`,
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }),
      ...(text === undefined && method !== 'GET' && { 'content-length': '0' }),
      ...(method !== 'GET' && { 'idempotency-key': randomUUID() }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    const target = `/gateway/v1${path}${queryText(query)}`;
    const one = { address, agent, method, target, headers, body: text, patienceMs };
    for (let attempt = 1; ; attempt += 1) {
      const pause = pauseMs * 2 ** (attempt - 1);
      const outcome = await attemptOf(() => exchangeOnce(one), method !== 'GET');
      if ('body' in outcome) return outcome;
      const { problem, afterMs } = outcome;
      const isOver = afterMs === undefined || attempt === ATTEMPTS || afterMs > PAUSE_MAX_MS;
      if (isOver) throw problem;
      await sleep(Math.max(pause, afterMs));
    }
  }

  const ask: AdministrationClient['ask'] = async (...asked) => (await exchange(...asked)).body;

  async function attemptOf(exchange: () => Promise<OneAnswer>, isChange: boolean) {
    let answer: OneAnswer;
    try {
      answer = await exchange();
    } catch (error) {
      return failureOf(server, error, patienceMs, isChange);
    }
    return readAnswer(server, answer);
  }

  return {
    server,
    ask,
    async read(path) {
      const { body, etag } = await exchange('GET', path);
      return { members: body, etag };
    },
    async *pages(path, query) {
      let cursor: string | undefined;
      do {
        const body = await ask('GET', path, { query: { ...query, ...(cursor !== undefined && { cursor }) } });
        const page = pageOf(server, body);
        if (page.cursor !== undefined && page.cursor === cursor) throw otherContract(server, 'cursor');
        yield page;
        cursor = page.cursor;
      } while (cursor !== undefined);
    },
    close: () => agent.destroy(),
  };
}

interface Success {
  readonly body: AnswerMembers;
  readonly etag: string | undefined;
}

type Outcome =
  | Success
  /** `afterMs` is the time after which the request may be retried. */
  | { readonly problem: ServerProblem; readonly afterMs: number | undefined };

function failureOf(server: string, error: unknown, patienceMs: number, isChange: boolean): Outcome {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const final = (sentence: string): Outcome => ({ problem: new ServerProblem(sentence), afterMs: undefined });
  if (error instanceof TooLong) return final(`${server} answers with more than any gateway does: is it one?`);
  // The answer is not valid HTTP.
  if (code.startsWith('HPE_')) return final(`${server} does not answer as HTTP (${code}): is it a gateway?`);
  const unsent = unsentProblem(server, error as NodeJS.ErrnoException);
  if (unsent !== undefined) return { problem: unsent, afterMs: undefined };
  const reason =
    error instanceof TooLate
      ? `has not answered within ${patienceMs / 1000} s`
      : `has not answered: the connection broke (${code || message})`;
  const doubt = isChange ? ' Whether the change was made is unknown: look before you give the command again.' : '';
  return { problem: new ServerProblem(`${server} ${reason}, ${ATTEMPTS} times.${doubt}`), afterMs: 0 };
}

function readAnswer(server: string, { status, type, coding, location, etag, body: text }: OneAnswer): Outcome {
  const final = (problem: ServerProblem): Outcome => ({ problem, afterMs: undefined });
  if (status >= 300 && status < 400) {
    const where = location === undefined ? '' : ` to ${foreign(location)}`;
    return final(
      new ServerProblem(`${server} points${where} (${status}). The key was not sent there; name the right address.`),
    );
  }
  const body = parseMembers(text);
  if (coding !== undefined || !/^application\/json\s*(;|$)/i.test(type) || body === undefined) {
    const kind = text === '' ? 'without a body' : `with ${foreign(coding ?? type) || 'a body of no type'}`;
    const problem = new ServerProblem(
      `${server} answers ${status} ${kind}, and not as a gateway: is this the address of its API?`,
      { status },
    );
    // A proxy may answer with these statuses while the gateway behind it starts, so the request is retried.
    return status === 502 || status === 503 || status === 504 ? { problem, afterMs: 0 } : final(problem);
  }
  // A tag that a proxy has made weak is ignored, because If-Match never matches a weak tag (RFC 9110 section 13.1.1).
  if (status >= 200 && status < 300) return { body, etag: etag?.startsWith('"') ? etag : undefined };
  const refusal = refusalOf(server, status, body);
  if (refusal === undefined) return final(otherContract(server, 'error'));
  const { retryable, retry_after: seconds } = body.error as AnswerMembers;
  const afterMs = typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : 0;
  return { problem: refusal, afterMs: retryable === true ? afterMs : undefined };
}

function parseMembers(text: string): AnswerMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function pageOf(server: string, body: AnswerMembers): ListPage {
  const { data, cursor } = body;
  if (!Array.isArray(data) || !data.every(isRecord)) throw otherContract(server, 'data');
  if (cursor !== null && cursor !== undefined && typeof cursor !== 'string') throw otherContract(server, 'cursor');
  return { data, cursor: cursor ?? undefined, body };
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [value].flat().map((one): [string, string] => [name, String(one)]);
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
