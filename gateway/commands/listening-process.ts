// Finds the process that listens on a port of this machine, by /proc, because a process that is stopped or hangs cannot report its id.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface ListeningProcess {
  readonly pid: number;
  /** Whether a signal such as SIGSTOP has stopped it. */
  readonly isStopped: boolean;
}

/** The state LISTEN in /proc/net/tcp. */
const LISTEN = '0A';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Returns the process; undefined if no process is found, for example because it belongs to another user or the system is not Linux. */
export function listeningProcess(port: number): ListeningProcess | undefined {
  const sockets = new Set(
    TABLES.flatMap((table) => listenersIn(textOf(table), port)).map((inode) => `socket:[${inode}]`),
  );
  if (sockets.size === 0) return undefined;
  const pid = entriesOf('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
    .find((one) => hasOneOf(`/proc/${one}/fd`, sockets));
  // The name of the program stands in parentheses before the state, and may contain any character.
  return pid === undefined ? undefined : { pid, isStopped: /\) [Tt] /.test(textOf(`/proc/${pid}/stat`)) };
}

function listenersIn(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === LISTEN && local.endsWith(suffix) && inode !== undefined ? [inode] : [];
  });
}

function hasOneOf(directory: string, sockets: ReadonlySet<string>): boolean {
  return entriesOf(directory).some((name) => sockets.has(targetOf(`${directory}/${name}`)));
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
