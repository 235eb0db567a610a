// Checks whether the limit of open files is high enough for the configuration, and logs a line when no file descriptor is left.

import { readFileSync } from 'node:fs';
import { areFilesFree } from '../config/free-files.ts';
import type { Config } from '../config/load.ts';
import type { Log } from '../observe/log/log.ts';

/**
 * The number of open files that are not connections of clients or upstreams, such as logs, stores, the admin listener, and files of Node
 * itself.
 */
const FURTHER_FILES = 200;

export interface OpenFiles {
  readonly says: string;
  /** The remedy; absent if the limit is high enough. */
  readonly remedy?: string;
}

/**
 * Compares the limit with the need of the configuration.
 *
 * @param limits text of /proc/self/limits; undefined on systems without it
 */
export function openFilesFor({ upstreams, gateway }: Config, workers: number, limits: string | undefined): OpenFiles {
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (soft === '') return { says: 'This system does not report a limit.' };
  const ofClients = Math.ceil(gateway.connections.max / workers);
  const ofUpstreams = Object.values(upstreams).reduce(
    (sum, { connections, live, test = [] }) => sum + connections * (live.length + test.length),
    0,
  );
  const wanted = ofClients + ofUpstreams + FURTHER_FILES;
  const says = `The limit is ${soft} per process; connections.max and the connections to upstreams need ${wanted}.`;
  if (soft === 'unlimited' || Number(soft) >= wanted) return { says };
  return { says, remedy: `Raise the limit (ulimit -n ${wanted}, LimitNOFILE), or lower connections.max.` };
}

export function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a text for people if the limit is too low. */
export function openFilesText({ says, remedy }: OpenFiles): string | undefined {
  return remedy && `At full load, open files may run out. ${says} ${remedy}`;
}

/** Logs the finding of `doctor` if the limit is too low. */
export function warnOfOpenFiles({ logger }: Pick<Log, 'logger'>, { says, remedy }: OpenFiles): void {
  if (remedy !== undefined) logger.warn({ check: 'open files', remedy }, says);
}

const LOOK_EVERY_MS = 2000;

/**
 * Logs a line when no file descriptor is left. Without this line the operator would not know, because libuv closes new connections and
 * reports nothing.
 */
export function tellLackOfFiles({ logger }: Pick<Log, 'logger'>): void {
  let isLacking = false;
  setInterval(() => {
    if (areFilesFree(1) !== isLacking) return;
    isLacking = !isLacking;
    if (isLacking)
      logger.error('no file descriptor is left: new connections are closed at once, and files cannot be read');
    else logger.warn('file descriptors are free again');
  }, LOOK_EVERY_MS).unref();
}
