// Key changes: an operator creates and revokes keys, suspends organizations and resumes them, and waits until every gateway has put that in
// force. Gateways follow the changes in Redis, cache callers, and let known ones in for a while when Redis is away.

import { callerRefusal } from '../../../gateway/auth/authorize.ts';
import { Directory } from '../../../gateway/auth/directory.ts';
import type { IssuedKey } from '../../../gateway/auth/issue-key.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { AccessChecker } from '../checkers/access.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';
import { createOperator, digestOf, gatewayAt, openKeyStore, type Started } from './key-operator.ts';

const GRACES_MS = [20_000, 120_000, 900_000] as const;
const REQUEST_GAP_MS = 700;
/** This share of requests has a token in place of a key. */
const TOKENS = 0.15;
/** Requests that are in progress take no longer. */
const REQUESTS_MAX_MS = 1000;
const ADDRESS = '192.0.2.1';

export const keysProtocol: Protocol = {
  name: 'keys',
  processesMax: 4,
  calmMs: 5 * 60_000,
  faults: {
    pause: 3,
    suspend: 2,
    hesitate: 2,
    kill: 2,
    stop: 2,
    clock: 2,
    cut: 3,
    break: 2,
    slow: 1,
    'redis pause': 2,
    'redis restart': 1,
    'redis restart without the tail': 2,
    'redis restart empty': 1,
    'redis failover': 2,
    'redis failover to a late replica': 3,
    'redis failover behind a gateway': 10,
    'redis failover after a cut': 10,
    'redis lag': 2,
    'redis clock': 1,
    'redis full': 1,
  },
  start: startKeys,
};

function startKeys(world: World, processes: number): Running {
  const random = world.random.named('keys');
  const graceMs = random.pick(GRACES_MS);
  const directories = new Map<Place, { readonly process: SimulatedProcess; readonly directory: Directory }>();

  const started = new Map<string, Started>();
  const deployment = new Deployment(world, processes, (place, process, connect) => {
    const begun: Started = { process, openedMs: Number.POSITIVE_INFINITY };
    started.set(gatewayAt(place), begun);
    void openKeyStore(process, connect).then((store) => {
      begun.openedMs = world.now();
      const { machine } = process;
      const { now } = machine;
      const sizes = { positiveMax: 100, negativeMax: 100 };
      const directory = new Directory({
        store,
        digestOf,
        host: place.name,
        pid: place.starts,
        now,
        machine,
        graceMs,
        ...sizes,
      });
      directories.set(place, { process, directory });
      place.stop = async () => {
        directories.delete(place);
        await machine.sleep(REQUESTS_MAX_MS);
        await directory.close();
        await store.close();
      };
    });
  });
  const checker = new AccessChecker(deployment);
  const operator = createOperator(deployment, checker, { graceMs, started });
  operator.begin();

  function send(): void {
    const key = random.pick(operator.keys());
    const place = random.pick(deployment.places);
    const { process, directory } = directories.get(place) ?? {};
    if (key !== undefined && process === place.process) {
      const sentMs = world.now();
      process.enter('message', () => void request(place, directory as Directory, key, sentMs));
    }
    world.after(random.between(0, REQUEST_GAP_MS / processes), send);
  }
  world.after(2000, send);

  async function request(
    place: Place,
    directory: Directory,
    { key, record }: IssuedKey,
    sentMs: number,
  ): Promise<void> {
    const { id, organization } = record;
    const hasToken = random.chance(TOKENS);
    const subjects = hasToken ? [organization] : [id, organization];
    const asked = { subjects, gateway: gatewayAt(place), process: place.process, sentMs };
    const code = hasToken
      ? await refusalOfToken(directory, organization)
      : await refusalOf(directory, key, place.process.machine.now);
    world.note(place.name, `${code ?? 'lets in'} ${hasToken ? organization : id}`);
    if (code === undefined) checker.letIn(asked);
    else checker.refused(asked, code);
  }

  return { deployment, finish: () => operator.finish() };
}

/** Undefined: the key is let in. */
async function refusalOf(directory: Directory, key: string, now: () => number): Promise<string | undefined> {
  try {
    const caller = await directory.callerOf(key);
    return caller === undefined ? 'api_key_invalid' : callerRefusal(caller, ADDRESS, now());
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

/** As `refusalOf`, for a token of an issuer: the store knows its organization alone. */
async function refusalOfToken(directory: Directory, organization: string): Promise<string | undefined> {
  try {
    const found = await directory.organizationOf(organization);
    if (found === undefined) return 'token_invalid';
    return found.state === 'active' ? undefined : 'account_inactive';
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}
