// A service of its own process on loopback, and a gateway in front of it with nothing but the service's document and an entry of defaults.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { nodeAppFor, pythonFor, sourcesOf } from './packages.ts';
import { send } from './wire.ts';

export interface Service {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** The output so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** How long it may take to serve. */
  readonly patienceMs?: number;
}

export interface Stand {
  readonly service: Service;
  readonly gateway: TestGateway;
  /** The headers of a caller of the gateway. */
  readonly caller: { readonly authorization: string };
  stop(): Promise<void>;
}

const PATIENCE_MS = 60_000;

/** Starts a service that prints its address once it serves. */
export async function startService(command: Command): Promise<Service> {
  const { file, args, cwd, environment = {}, patienceMs = PATIENCE_MS } = command;
  const child = spawn(file, args, { cwd, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  const address = Promise.withResolvers<string>();
  const read = (chunk: Buffer) => {
    printed += chunk.toString();
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    if (origin !== undefined) address.resolve(origin);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.once('error', address.reject);
  child.once('exit', () => address.reject(new Error(`The service ended before it served:\n${printed}`)));
  const late = setTimeout(() => address.reject(new Error(`The service does not serve:\n${printed}`)), patienceMs);
  try {
    const origin = await address.promise;
    return { origin, output: () => printed, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(late);
  }

  async function stop(): Promise<void> {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

/** Starts a Node app of `apps/node` after installing its packages. */
export async function startNodeService(file: string, environment: Readonly<Record<string, string>>): Promise<Service> {
  return startService({ file: process.execPath, args: [file], cwd: await nodeAppFor('node'), environment });
}

/** Starts the FastAPI app, whose packages are installed first. */
export async function startFastApi(environment: Readonly<Record<string, string>>): Promise<Service> {
  return startService({
    file: await pythonFor('fastapi'),
    args: ['-m', 'uvicorn', 'main:app', '--host', '127.0.0.1', '--port', '0'],
    cwd: sourcesOf('fastapi'),
    environment: { ...environment, PYTHONDONTWRITEBYTECODE: '1' },
  });
}

/** The document that a service generates. */
export async function documentOf(service: Service): Promise<string> {
  return (await send(service.origin, { path: '/openapi.json' })).body.toString();
}

/** Opens a gateway in front of a service. `entry` holds the lines of the entry beside the document and the address. */
export async function openGateway(service: Service, document: string, entry: Readonly<Record<string, unknown>>) {
  const gateway = await startGateway({
    contracts: { 'service.json': document },
    upstreams: { service: { contracts: ['service.json'], live: service.origin, ...entry } },
  });
  return { gateway, caller: await gateway.authorize(), close: () => gateway.stop() };
}

/** The same, and the service ends with the gateway, or if the gateway does not start. */
export async function putBehindGateway(...[service, document, entry]: Parameters<typeof openGateway>): Promise<Stand> {
  try {
    const { gateway, caller, close } = await openGateway(service, document, entry);
    return {
      service,
      gateway,
      caller,
      async stop() {
        await close();
        await service.stop();
      },
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}
