// The files of a configuration for tests, in a directory: `config/*.yaml`, and `openapi/` for its contracts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface ConfigurationOptions {
  /** Members of gateway.yaml. */
  readonly gateway?: Record<string, unknown>;
  /** The entries of upstreams.yaml. Default: the nine resources on the sandbox. */
  readonly upstreams?: Record<string, unknown>;
  /** Members of limits.yaml, on top of limits that no test reaches by accident. */
  readonly limits?: Record<string, unknown>;
  /** Contract files by name. Default: the shipped contracts. */
  readonly contracts?: Record<string, string | object>;
  /** Further files, by their paths below the configuration directory. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Generous where a test is not about limits; whole numbers a test can override one by one. */
const roomyLimits = {
  tiers: { standard: { requests: 100_000 }, premium: { requests: 1_000_000 } },
  addresses: { failures: 1_000_000 },
};

const onSandbox = { platform: { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' } };

/** Writes the configuration. Objects are written as JSON, which is YAML. */
export function writeConfiguration(directory: string, options: ConfigurationOptions, probesLoop = false): void {
  const below = (folder: string, files: Readonly<Record<string, string | object>> = {}) =>
    Object.entries(files).map(([file, content]) => [join(folder, file), content] as const);
  writeFiles(directory, {
    'config/gateway.yaml': gatewayFileOf(options.gateway, probesLoop),
    'config/upstreams.yaml': { upstreams: options.upstreams ?? onSandbox },
    'config/limits.yaml': { ...roomyLimits, ...options.limits },
    ...Object.fromEntries([...below('config', options.files), ...below('openapi', options.contracts)]),
  });
}

/** Writes files by their paths below a directory; `undefined` leaves one out. */
export function writeFiles(directory: string, files: Readonly<Record<string, string | object | undefined>>): void {
  for (const [file, content] of Object.entries(files)) {
    if (content === undefined) continue;
    const path = join(directory, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
}

/** Returns the environment variables with which commands and gateways find these files. */
export function environmentOf(directory: string) {
  return { GATEWAY_CONFIG: join(directory, 'config'), GATEWAY_CONTRACTS: join(directory, 'openapi') };
}

/** The content of `gateway.yaml` with these members, as a gateway of a test is started with and as one reloads it. */
export function gatewayFileOf(members: ConfigurationOptions['gateway'] = {}, probesLoop = false): object {
  const { timeouts = {}, overload = {}, keys = {}, http = {}, ...others } = members as Record<string, object>;
  // On a busy machine a gateway of a test refuses nothing for its delay, unless the test sets one.
  const loopDelay = probesLoop ? {} : { loopDelayMs: 60_000 };
  return {
    ...others,
    // A gateway of a test stops without the delay in which balancers would notice it.
    timeouts: { drainDelayMs: 0, ...timeouts },
    overload: { ...loopDelay, ...overload },
    // A cache takes its memory, megabytes by default, when it is made.
    keys: { cacheMax: 1000, unknownCacheMax: 1000, ...keys },
    // `TEST_FAST_PATH=off` runs every test on Node's HTTP server.
    http: { fastPath: process.env.TEST_FAST_PATH !== 'off', ...http },
  };
}
