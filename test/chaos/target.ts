// One target as a process of its own: a small service with entries, on a journal that it shares with the others. It honours
// `Idempotency-Key` by keeping it together with the write, but for plain entries, which it makes each time. Arguments: port, path of the journal.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openJournal, type State, type Write } from './journal.ts';

/** Long enough for something to be in progress whenever the process is killed. */
const WORK_MS = 3;

const [port, path] = process.argv.slice(2) as [string, string];
const journal = openJournal(path);

/** A single entry in an answer; some are long, so that they can be cut off in the middle. */
function shown(state: State): object {
  return state.size === 0 ? state : { ...state, filler: 'x'.repeat(state.size) };
}

function answer(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const notFound = { error: { code: 'resource_missing', message: 'There is no such entry.' } };

function read(organization: string, target: URL, response: ServerResponse): void {
  const id = target.pathname.split('/')[3];
  const limit = Number(target.searchParams.get('limit') ?? 10);
  const state = id === undefined ? undefined : journal.get(organization, id);
  if (id === undefined) answer(response, 200, { data: journal.list(organization, limit) });
  else if (state === undefined) answer(response, 404, notFound);
  else answer(response, 200, shown(state));
}

function write(organization: string, request: IncomingMessage, body: Write, response: ServerResponse): void {
  const id = request.url?.split('/')[3];
  const act = () => (id === undefined ? journal.create(organization, body) : journal.update(organization, id, body));
  const key = request.headers['idempotency-key'];
  const isPlain = request.url?.startsWith('/v1/plain-entries') === true;
  const { outcome, replayed } =
    typeof key === 'string' && !isPlain ? journal.once(organization, key, act) : { outcome: act(), replayed: false };
  if (outcome === undefined) answer(response, 404, notFound);
  else
    answer(response, id === undefined ? 201 : 200, shown(outcome), replayed ? { 'idempotent-replayed': 'true' } : {});
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = new URL(request.url ?? '/', 'http://target');
  const organization = String(request.headers['x-organization-id']);
  const body = await text(request);
  if (target.pathname === '/healthz') return answer(response, 200, {});
  await sleep(WORK_MS);
  if (request.method === 'GET') read(organization, target, response);
  else write(organization, request, JSON.parse(body) as Write, response);
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 120_000;
server.listen(Number(port), '127.0.0.1', () => process.send?.('listening'));
// The parent process is gone.
process.on('disconnect', () => process.exit(0));
