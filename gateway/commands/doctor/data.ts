// Checks write access, free space and the clock of the file system of the data directory, and the integrity of the embedded stores.

import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { nearestExisting } from '../../process/start-mistakes.ts';
import { STORE_FILES } from '../../process/store-files.ts';
import { type DiskRoom, diskRoom, roomText, saysDiskFull } from '../../shared/disk.ts';
import { shownPath } from '../../shared/file-text.ts';
import { type Finding, fail, ok, reasonOf, warn } from '../finding.ts';

const ROOM_MIN = 104_857_600;
const ROOM_WANTED = 1_073_741_824;
const SKEW_MAX_MS = 1000;
const MAKE_ROOM = 'Make room: keys, sessions, answers of idempotent writes, counts and certificates are stored here.';

export function checkDataDirectory(directory: string, now: () => number): Finding[] {
  const place = nearestExisting(directory);
  const probe = join(place, `.doctor.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600, flag: 'wx' });
    return [writable(directory, place), checkRoom(diskRoom(place)), clockOf(probe, now())];
  } catch (error) {
    const says = `${shownPath(place)} cannot be written to (${reasonOf(error)}`;
    if (saysDiskFull(reasonOf(error)))
      return [fail('data directory', `${says}: its disk is full).`, MAKE_ROOM), checkRoom(diskRoom(place))];
    const remedy = 'Give the account that the gateway runs as the right to write there, or set GATEWAY_DATA.';
    return [fail('data directory', `${says}).`, remedy)];
  } finally {
    rmSync(probe, { force: true });
  }
}

function writable(directory: string, place: string): Finding {
  const made = place === directory ? 'can be written to' : 'does not exist yet and can be created';
  return ok('data directory', `${shownPath(directory)} ${made}.`);
}

export function checkRoom(room: DiskRoom): Finding {
  const { freeBytes: bytes } = room;
  const says = `${roomText(room)}.`;
  if (bytes >= ROOM_WANTED) return ok('data space', says);
  return bytes >= ROOM_MIN ? warn('data space', says, MAKE_ROOM) : fail('data space', says, MAKE_ROOM);
}

/** Checks the existing stores, because a damaged store may serve for days until the damaged part is read. */
export function checkStores(directory: string): Finding[] {
  return STORE_FILES.filter((file) => existsSync(join(directory, file))).map((file) => {
    const remedy = 'Stop the gateway and put a backup in its place; docs/operations.md says what is lost without one.';
    const damage = damageOf(join(directory, file));
    return damage === undefined
      ? ok(`store ${file}`, 'It is whole.')
      : fail(`store ${file}`, `It is damaged (${damage}).`, remedy);
  });
}

function damageOf(path: string): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const { quick_check: says } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
    return says === 'ok' ? undefined : says.replace(/\s+/g, ' ');
  } catch (error) {
    return (error as Error).message;
  } finally {
    database?.close();
  }
}

function clockOf(probe: string, nowMs: number): Finding {
  return checkSkew('clock of the file system', statSync(probe).mtimeMs - nowMs);
}

/** Checks the difference of two clocks. @param skewMs milliseconds by which the other clock is ahead of the clock of this machine */
export function checkSkew(check: string, skewMs: number): Finding {
  const says = `It is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine.`;
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return ok(check, says);
  return warn(check, says, 'Let NTP keep the clocks of both.');
}
