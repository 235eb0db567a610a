// Node's own parser of requests, with the settings of the gateway's listener.

import { METHODS } from 'node:http';
import { createRequire } from 'node:module';

interface ReadByNode {
  readonly method: string | undefined;
  readonly target: string;
  readonly version: string;
  /** Names and values in turn, as they came. */
  readonly lines: readonly string[];
  readonly isPersistent: boolean;
  readonly upgrades: boolean;
  readonly body: string;
  readonly isComplete: boolean;
}

interface NodeReading {
  /** In order; the last one may be incomplete. */
  readonly requests: readonly ReadByNode[];
  readonly hasFailed: boolean;
}

interface Parser {
  [callback: number]: (...given: never[]) => unknown;
  initialize(type: number, resource: object, headerBytesMax: number, leniency: number): void;
  execute(bytes: Buffer): number | Error;
  close(): void;
}
interface ParserClass {
  new (): Parser;
  readonly REQUEST: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

const { HTTPParser } = createRequire(import.meta.url)('node:_http_common') as { readonly HTTPParser: ParserClass };
type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** The parser names methods by numbers. */
const methodNames = new Map(METHODS.map((method) => [numberOf(method), method]));

function numberOf(method: string): number {
  const parser = new HTTPParser();
  let found = -1;
  parser.initialize(HTTPParser.REQUEST, {}, 0, 0);
  parser[HTTPParser.kOnHeadersComplete] = (...[, , , number]: [unknown, unknown, unknown, number]) => {
    found = number;
    return 2;
  };
  parser.execute(Buffer.from(`${method} ${method === 'CONNECT' ? 'a:1' : '/'} HTTP/1.1\r\nHost: a\r\n\r\n`));
  parser.close();
  return found;
}

/** @param pieces in which the bytes arrive */
export function readByNode(pieces: readonly Buffer[], headerBytesMax: number): NodeReading {
  const parser = new HTTPParser();
  const requests: Writable<ReadByNode>[] = [];
  let early: string[] = [];
  let earlyTarget = '';
  parser.initialize(HTTPParser.REQUEST, {}, headerBytesMax, 0);
  parser[HTTPParser.kOnHeaders] = (lines: string[], target: string) => {
    early = [...early, ...lines];
    earlyTarget += target;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    ...[major, minor, lines, method, target, , , upgrades, isPersistent]: [
      ...[number, number, string[] | undefined, number, string | undefined],
      ...[unknown, unknown, boolean, boolean],
    ]
  ) => {
    requests.push({
      method: methodNames.get(method),
      target: target ?? earlyTarget,
      version: `${major}.${minor}`,
      lines: lines ?? early,
      isPersistent,
      upgrades,
      body: '',
      isComplete: false,
    });
    early = [];
    earlyTarget = '';
    return upgrades ? 2 : 0;
  };
  const last = () => requests.at(-1) as Writable<ReadByNode>;
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    last().body += bytes.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    last().isComplete = true;
  };
  let hasFailed = false;
  for (const piece of pieces) hasFailed ||= typeof parser.execute(piece) !== 'number';
  parser.close();
  return { requests, hasFailed };
}
