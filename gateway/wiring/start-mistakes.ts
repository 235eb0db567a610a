// Gathers what refuses a start beyond the configuration files: secrets, addresses to listen on, and the data directory. `start` refuses the
// mistakes; `check` reports them, and warns of what is missing on this machine and may exist on another one.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { dirname } from 'node:path';
import type { Config, Settings } from '../config/load.ts';
import { type OwnSecret, ownSecretProblem, type Secrets } from '../config/secrets.ts';
import { type Mistake, toSentence } from '../config-errors.ts';
import type { Configuration } from '../configuration.ts';
import { shownPath } from '../shared/yaml-source.ts';
import { liesOnSandbox } from '../upstream/sandbox.ts';
import { isSimulated } from '../upstream/simulated.ts';
import { checkSecrets } from './named-secrets.ts';

export interface StartMistakes {
  readonly mistakes: readonly Mistake[];
  /** Sentences about what may exist on the machine that runs the gateway. */
  readonly warnings: readonly string[];
}

type Checked = Pick<Configuration, 'config' | 'upstreamTls'>;

export function checkStart(configuration: Checked, settings: Settings, { read }: Pick<Secrets, 'read'>): StartMistakes {
  const { config } = configuration;
  const named = checkSecrets(configuration, read);
  const data = dataDirectoryProblem(settings.dataDirectory);
  return {
    mistakes: [
      ...named.mistakes,
      ...checkOwnSecrets(config, read),
      ...checkSandboxCredentials(config, read),
      ...checkPorts(config, settings),
      ...(data?.mistake ? [data.mistake] : []),
    ],
    warnings: [
      ...named.missing.map(
        (mistake) => `${toSentence(mistake)} Without it the gateway does not start; it may be on another machine.`,
      ),
      ...(data?.warning === undefined ? [] : [data.warning]),
    ],
  };
}

/** The gateway creates missing ones, so only values that cannot be used are mistakes. */
function checkOwnSecrets({ upstreams }: Config, read: Secrets['read']): Mistake[] {
  const entries: OwnSecret[] = ['key_pepper', 'assertion_keys', 'admin_token'];
  if (Object.values(upstreams).some(liesOnSandbox)) entries.push('cursor_secret');
  return entries.flatMap((entry) => {
    const problem = problemOf(entry, read, (value) => ownSecretProblem(entry, value));
    if (problem === undefined) return [];
    const remedy = `Correct the file SECRETS_DIR/${entry} or the variable ${entry.toUpperCase()}.`;
    return [{ file: 'secrets', place: entry, reason: problem, remedy }];
  });
}

/** A start creates missing ones. */
function checkSandboxCredentials({ upstreams, sources }: Config, read: Secrets['read']): Mistake[] {
  return Object.entries(upstreams).flatMap(([name, entry]) => {
    if (entry.credential === undefined || !isSimulated(entry)) return [];
    const { kind, secret } = entry.credential;
    const problem = problemOf(secret, read, () => undefined);
    if (problem === undefined) return [];
    const path = ['upstreams', name, 'credential', kind, 'secret'];
    return [sources.upstreams.mistakeAt(path, problem, `Correct or remove the file SECRETS_DIR/${secret}.`)];
  });
}

function problemOf(
  entry: string,
  read: Secrets['read'],
  problemOfValue: (value: string) => string | undefined,
): string | undefined {
  try {
    const value = read(entry);
    return value === undefined ? undefined : problemOfValue(value);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Refuses two listeners on one port. Port 0 stands for a free one. */
function checkPorts({ gateway, sources }: Config, { host, port, adminHost, adminPort }: Settings): Mistake[] {
  const plain = gateway.tls?.plain?.port ?? 0;
  const mistakes: Mistake[] = [];
  if (adminPort !== 0 && adminPort === port && overlap(host, adminHost)) {
    const reason = `the public listener has the port ${port} already.`;
    mistakes.push({
      file: 'environment',
      place: 'ADMIN_PORT',
      reason,
      remedy: 'Set PORT or ADMIN_PORT to another one.',
    });
  }
  const taken = plain === port ? 'PORT' : plain === adminPort && overlap(host, adminHost) ? 'ADMIN_PORT' : undefined;
  if (plain !== 0 && taken !== undefined) {
    const reason = `${taken} is ${plain} too, and one port cannot have two listeners.`;
    mistakes.push(sources.gateway.mistakeAt(['tls', 'plain', 'port'], reason, 'Choose another port.'));
  }
  return mistakes;
}

/** Whether two listeners on one port would certainly collide: host names may stand for different addresses. */
function overlap(one: string, other: string): boolean {
  const isWithin = (all: string, host: string) => all === '::' || (all === '0.0.0.0' && isIPv4(host));
  return one === other || isWithin(one, other) || isWithin(other, one);
}

/** Examines the directory, or the nearest one above it that exists: a start creates the missing ones. */
function dataDirectoryProblem(
  directory: string,
): { readonly mistake?: Mistake; readonly warning?: string } | undefined {
  let nearest = directory;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) {
    const reason = `${shownPath(nearest)} is not a directory.`;
    return {
      mistake: { file: 'environment', place: 'GATEWAY_DATA', reason, remedy: 'Name a directory, or remove it.' },
    };
  }
  try {
    accessSync(nearest, constants.W_OK);
    return undefined;
  } catch {
    const where = `This user cannot write to ${shownPath(nearest)}, where the gateway keeps its data (GATEWAY_DATA).`;
    return {
      warning: `${where} Without it the gateway does not start; it may be another user, or on another machine.`,
    };
  }
}
