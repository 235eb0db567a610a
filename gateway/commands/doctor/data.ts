// The data directory: whether it can be written to, what room is left, and whether its file system goes by the same clock.

import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shownPath } from '../../source.ts';
import { type Finding, fail, ok, reasonOf, warn } from '../finding.ts';

const ROOM_MIN = 104_857_600;
const ROOM_WANTED = 1_073_741_824;
export const SKEW_MAX_MS = 1000;

export function checkDataDirectory(directory: string, now: () => number): Finding[] {
  const place = nearestThere(directory);
  const probe = join(place, `.doctor.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(probe, 'x', { mode: 0o600, flag: 'wx' });
    return [writable(directory, place), roomAt(place), clockOf(probe, now())];
  } catch (error) {
    const remedy = 'Give the account that the gateway runs as the right to write there, or set GATEWAY_DATA.';
    return [fail('data directory', `${shownPath(place)} cannot be written to (${reasonOf(error)}).`, remedy)];
  } finally {
    rmSync(probe, { force: true });
  }
}

function writable(directory: string, place: string): Finding {
  const made = place === directory ? 'can be written to' : 'is not there yet, and can be made';
  return ok('data directory', `${shownPath(directory)} ${made}.`);
}

/** The directory itself, or what of its path is there. */
function nearestThere(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearestThere(dirname(directory));
}

function roomAt(place: string): Finding {
  const { bavail, bsize } = statfsSync(place);
  return checkRoom(bavail * bsize);
}

export function checkRoom(bytes: number): Finding {
  const says = `${Math.floor(bytes / 1_048_576)} MiB are free.`;
  if (bytes >= ROOM_WANTED) return ok('data space', says);
  const remedy = 'Make room: keys, answers of idempotent writes and counts are stored here.';
  return bytes >= ROOM_MIN ? warn('data space', says, remedy) : fail('data space', says, remedy);
}

function clockOf(probe: string, nowMs: number): Finding {
  return checkSkew('clock of the file system', statSync(probe).mtimeMs - nowMs);
}

/** @param skewMs how far another clock is ahead of that of this machine */
export function checkSkew(check: string, skewMs: number): Finding {
  const says = `It is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine.`;
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return ok(check, says);
  return warn(check, says, 'Let NTP keep the clocks of both.');
}
