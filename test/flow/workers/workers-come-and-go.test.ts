// Workers are replaced, one after the other on purpose, or at once when they die, and clients that connect meanwhile find a gateway. In the
// end they finish the requests in flight. All write to one file.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeConfiguration } from '../../support/configuration.ts';
import { openConnection, requestOf } from '../../support/connection.ts';
import { freePort } from '../../support/free-port.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';
import { getOnce, type Told } from './get-once.ts';
import { createHolding, eventually, isAlive, metricsOf, seriesIn, startSeveral, type WorkerStatus } from './several.ts';
import { fatalLinesOf, throwsOnSignals } from './uncaught.ts';

const LINES = 300;
const CLIENTS = 8;
/** Between two requests of a client: a replacement takes seconds, in which clients without a pause keep a core busy. */
const PAUSE_MS = LIMIT_RUNS > 1 ? 0 : 300;

const upstream = createHolding();

const several = await startSeveral({
  answer: upstream.answer,
  gateway: { timeouts: { drainDelayMs: 300 } },
  // One of its own choice would be another one after all workers have died.
  environment: { ...throwsOnSignals, PORT: `${await freePort()}` },
  writesToFile: true,
});
after(() => several.close());

const answered = (text: string) =>
  seriesIn(
    text,
    'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/things",http_response_status_code="200",api_version="v1"}',
  );

/**
 * Resolves with the status; rejects when the connection fails. A kept connection may be closed as the request leaves, so the request is
 * sent again (RFC 9112 section 9.3.1); the metrics show whether a gateway has served the first one.
 */
function get(agent: Agent): Promise<number> {
  const { url, authorization } = several;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/things`, { agent, headers: { authorization } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', (error) => (sent.reusedSocket ? resolve(get(agent)) : reject(error))).end();
  });
}

/** Clients that send again as soon as they are answered, every other on a connection that it keeps. Returns their answers. */
function offerLoad(): { stop(): Promise<(number | Error)[]> } {
  const told: (number | Error)[] = [];
  let stopped = false;
  const client = async (_: unknown, index: number) => {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    while (!stopped) {
      told.push(await get(agent).catch((error: Error) => error));
      await sleep(PAUSE_MS);
    }
    agent.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    async stop() {
      stopped = true;
      await Promise.all(clients);
      return told;
    },
  };
}

/** A silent one serves, too: on a busy machine it answers the primary too late. */
const takesRequests = ({ state }: WorkerStatus) => state === 'serving' || state === 'silent';

const bothServe = (workers: readonly WorkerStatus[]) =>
  workers.length === 2 && workers.every(({ state }) => state === 'serving');

describe('workers', () => {
  it('write whole lines to one file', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => openConnection(several.port)));
    const headers = { Authorization: several.authorization, 'X-Request-Id': 'whole' };
    await Promise.all(
      clients.map(async (client) => {
        for (let count = 0; count < LINES / clients.length; count += 1) {
          client.send(requestOf('GET /v1/things', headers));
          assert.equal((await client.answer())?.status, 200);
        }
        client.destroy();
      }),
    );
    const written = () => several.logLines().filter(({ client_request_id }) => client_request_id === 'whole');
    await eventually(() => written().length >= LINES);
    assert.equal(written().length, LINES);
    assert.deepEqual([...new Set(written().map(({ worker }) => worker))].sort(), [1, 2]);
  });

  it('are replaced one after the other on SIGUSR2, and no request fails', async (test) => {
    const before = await several.workers();
    const countedBefore = answered(await metricsOf(several));
    const load = offerLoad();
    test.after(load.stop);
    await sleep(200);
    several.child.kill('SIGUSR2');
    const least: number[] = [];
    const replaced = await eventually(async () => {
      const workers = await several.workers();
      least.push(workers.filter(takesRequests).length);
      const isNew = workers.every(({ pid }) => before.every((one) => one.pid !== pid));
      return isNew && bothServe(workers) && workers;
    });
    const told = await load.stop();
    assert.deepEqual(
      told.filter((status) => status !== 200),
      [],
    );
    assert.ok(told.length > CLIENTS * 3, `${told.length} requests`);
    // The next one takes requests before the former is stopped.
    assert.ok(Math.min(...least) >= 2, `${Math.min(...least)} workers at one time`);
    assert.ok(replaced.every(({ restarts }) => restarts === 0));
    assert.ok(before.every(({ pid }) => !isAlive(pid as number)));
    // The counts of ended workers stay counted.
    await eventually(async () => answered(await metricsOf(several)) === countedBefore + told.length);
    assert.equal(seriesIn(await metricsOf(several), 'gateway_worker_restarts_total'), 0);
  });

  it('that end with an uncaught exception are replaced at once and counted; the others still serve', async () => {
    const [one, other] = await several.workers();
    const countedBefore = answered(await metricsOf(several));
    process.kill(one?.pid as number, 'SIGPWR');
    const agent = new Agent({ keepAlive: false });
    await eventually(() => fatalLinesOf(several).length === 1);
    assert.deepEqual(
      fatalLinesOf(several).map(({ err }) => err?.message),
      ['rejected for a test'],
    );
    await eventually(() => several.logLines().some(({ pid, code }) => pid === one?.pid && code === 1));
    assert.equal(await get(agent), 200, 'while one is missing');
    const workers = await eventually(async () => {
      const now = await several.workers();
      return bothServe(now) && now;
    });
    assert.notEqual(workers[0]?.pid, one?.pid);
    assert.deepEqual([workers[0]?.restarts, workers[1]?.restarts, workers[1]?.pid], [1, 0, other?.pid]);
    for (let count = 0; count < 4; count += 1) assert.equal(await get(agent), 200);
    assert.equal(seriesIn(await metricsOf(several), 'gateway_worker_restarts_total'), 1);
    await eventually(async () => answered(await metricsOf(several)) === countedBefore + 5);
  });

  it('that are all killed at once are replaced; who connects meanwhile is answered, and none hangs', async () => {
    const before = await several.workers();
    const clients: Promise<Told>[] = [];
    for (const { pid } of before) process.kill(pid as number, 'SIGKILL');
    // The system may take some moments to close the connections of a killed process.
    await eventually(() => before.every(({ pid }) => !isAlive(pid as number)));
    await eventually(async () => {
      clients.push(getOnce(several), getOnce(several));
      const workers = await several.workers();
      const isNew = workers.every(({ pid }) => before.every((one) => one.pid !== pid));
      return isNew && bothServe(workers);
    });
    const told = await Promise.all(clients);
    assert.ok(told.length > 4, `${told.length} clients`);
    // A connection that had arrived at the port of the dead ones is closed.
    assert.deepEqual(
      told.slice(2).filter((one) => one !== 'answered'),
      [],
    );
    assert.ok(told.slice(0, 2).every((one) => one !== 'hanging'));
  });

  it('all load a configuration anew on SIGHUP', async () => {
    const [before] = await several.workers();
    writeConfiguration(several.directory, {
      ...several.configuration,
      limits: { tiers: { standard: { requests: 99_999 } } },
    });
    several.child.kill('SIGHUP');
    const workers = await eventually(async () => {
      const now = await several.workers();
      return now.every(({ configuration }) => configuration !== before?.configuration) && now;
    });
    assert.equal(workers[0]?.configuration, workers[1]?.configuration);
  });

  it('that cannot be started with the present files leave the earlier ones in place', async () => {
    const before = await several.workers();
    writeConfiguration(several.directory, { ...several.configuration, limits: { nonsense: true } });
    several.child.kill('SIGUSR2');
    const told = 'not every worker was replaced; the others keep running';
    await eventually(() => several.logLines().some(({ msg }) => msg === told));
    const reason = several.logLines().find(({ msg }) => msg === 'a worker could not be started')?.reason;
    assert.match(String(reason), /limits\.yaml.*nonsense/);
    const pids = (workers: readonly WorkerStatus[]) => workers.map(({ pid }) => pid);
    // The one that could not be started may take a moment to end.
    const left = await eventually(async () => {
      const now = await several.workers();
      return now.length === before.length && now;
    });
    assert.deepEqual(pids(left), pids(before));
    assert.equal((await fetch(`${several.adminUrl}/readyz`)).status, 200);
  });

  it('finish their requests on SIGTERM; the gateway ends with 0 when they have', async () => {
    const pids = (await several.workers()).map(({ pid }) => pid as number);
    const answeredBefore = several.upstream.requests.length;
    const clients = await Promise.all([openConnection(several.port), openConnection(several.port)]);
    const request = requestOf(`GET ${upstream.path}`, { Authorization: several.authorization, 'X-Request-Id': 'held' });
    for (const client of clients) client.send(request);
    await eventually(() => several.upstream.requests.length === answeredBefore + clients.length);
    const ended = several.stop();
    await eventually(async () => (await fetch(`${several.adminUrl}/readyz`)).status === 503);
    // A terminal sends its signals to every process; those of the gateway check with the one that holds them.
    for (const pid of pids) process.kill(pid, 'SIGINT');
    upstream.letGo();
    const answers = await Promise.all(clients.map((client) => client.answer()));
    assert.deepEqual(
      answers.map((answer) => answer?.status),
      [200, 200],
    );
    assert.equal(await ended, 0);
    assert.ok(!pids.some(isAlive));
    const served = several
      .logLines()
      .filter(({ client_request_id, status }) => client_request_id === 'held' && status === 200);
    assert.equal(served.length, clients.length, 'the last lines are written');
  });
});
