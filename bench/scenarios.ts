// The requests: the bytes of each kind, and the answer that every one of them has to get.

import { openConnection } from './connection.ts';
import type { Contestant } from './contestants.ts';
import type { LoadResult } from './load.ts';
import { strangeKey } from './sample-keys.ts';

export interface Scenario {
  readonly name: string;
  /** For gateways, and beside them the floor, which forwards the list: others refuse at another point, or not at all. */
  readonly isRefusal: boolean;
  readonly line: string;
  readonly body: string;
  readonly status: number;
  /** The callers; each in turn. */
  keysOf(contestant: Contestant): readonly string[];
  /** The field lines that name a caller. */
  credential(key: string): string;
}

const strangeKeys = Array.from({ length: 1000 }, strangeKey);
/** The last character belongs to the checksum. */
const mistypedKeys = strangeKeys.map((key) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'));

const customer = JSON.stringify({
  name: 'Ada Vandermeer',
  email: 'ada@example.com',
  phone: '+15551000001',
  metadata: { note: 'x'.repeat(400), more: 'y'.repeat(450) },
});

export const LIST: Scenario = {
  name: 'GET list',
  isRefusal: false,
  line: 'GET /v1/customers?limit=20',
  body: '',
  status: 200,
  keysOf: ({ keys }) => keys,
  credential: (key) => `Authorization: Bearer ${key}`,
};

export const CREATION: Scenario = {
  ...LIST,
  name: 'POST 1 kB',
  line: 'POST /v1/customers',
  body: customer,
  status: 201,
};

/** More than the gateway remembers refusals of. */
const addresses = Array.from({ length: 2560 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);

/** Refused by a decision of the store each time: when an address has its next turn, its refusal is no longer remembered. */
export const DECIDED_ANEW: Scenario = {
  ...LIST,
  name: '429 decided anew',
  isRefusal: true,
  line: 'GET /v1/memberships?limit=20',
  status: 429,
  keysOf: () => addresses,
  credential: (address) => `X-Forwarded-For: ${address}`,
};

export const SCENARIOS: readonly Scenario[] = [
  LIST,
  CREATION,
  { ...LIST, name: '404 no such route', isRefusal: true, line: 'GET /v1/nothing', status: 404 },
  { ...LIST, name: '401 wrong checksum', isRefusal: true, status: 401, keysOf: () => mistypedKeys },
  { ...LIST, name: '401 unknown key', isRefusal: true, status: 401, keysOf: () => strangeKeys },
  {
    ...LIST,
    name: '429 blocked caller',
    isRefusal: true,
    status: 429,
    keysOf: ({ blockedKey = '' }) => [blockedKey],
  },
  DECIDED_ANEW,
  {
    ...DECIDED_ANEW,
    name: '429 blocked address',
    keysOf: () => addresses.slice(0, 64),
  },
];

/** Throws for a name that no scenario has. */
export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`${name}: no scenario; there are ${SCENARIOS.map((one) => one.name).join(', ')}`);
  return found;
}

/** The requests of a scenario as they are sent, one for each key. */
export function requestsOf({ line, body, credential }: Scenario, port: number, keys: readonly string[]): Buffer[] {
  const framing = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return keys.map((key) =>
    Buffer.from(
      `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\nUser-Agent: bench\r\n` +
        `${credential(key)}\r\n${framing}\r\n${body}`,
    ),
  );
}

/** Throws unless every answer has the status of the scenario and, if it is the upstream's, the length of the upstream's. */
export function verify(
  who: string,
  { name, status }: Scenario,
  result: LoadResult,
  bodyBytes: number | undefined,
): void {
  const asExpected = result.statuses[status] === result.answers && result.answers > 0;
  const whole = bodyBytes === undefined || (result.bodyBytes.size === 1 && result.bodyBytes.has(bodyBytes));
  if (asExpected && whole) return;
  const lengths = [...result.bodyBytes].slice(0, 5).join(', ');
  throw new Error(`${who}, ${name}: answered ${JSON.stringify(result.statuses)}, bodies of ${lengths} bytes`);
}

/** One request on a connection of its own: status and length of the answer. */
export function ask(port: number, request: Buffer): Promise<{ readonly status: number; readonly bodyBytes: number }> {
  return new Promise((resolve, reject) => {
    const opened = openConnection(port, (status, bodyBytes) => {
      void opened.then((connection) => connection.close());
      resolve({ status, bodyBytes });
    });
    opened.then((connection) => connection.send(request), reject);
  });
}

/** The upstream's own answer to a scenario. */
export function askUpstream(
  scenario: Scenario,
  port: number,
): Promise<{ readonly status: number; readonly bodyBytes: number }> {
  return ask(port, requestsOf(scenario, port, ['a-caller'])[0] as Buffer);
}
