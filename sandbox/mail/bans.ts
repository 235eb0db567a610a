// Counts requests that look like an attack and bans their address for good: a ban has no end and survives a restart. Unlike the real server
// this one bans loopback addresses too, since all requests here come from one.
import type { MailStore } from './store.ts';

export interface Bans {
  isBanned(address: string): boolean;
  /** Counts a failed login for the address and for the name; whether the address is banned now. */
  failed(address: string, name: string): boolean;
  /** Counts a request that the HTTP library refuses: bytes that are no HTTP, a target that is no URI, too many header lines. */
  malformed(address: string): void;
  /** Bans the address at once if only scanners request such a path. Returns whether it did. */
  scanned(address: string, path: string): boolean;
}

export interface BanLimits {
  /** Failed logins a day for one address, and for one login name from anywhere. */
  readonly failuresMax: number;
  /** Unparsable requests a day for one address. */
  readonly malformedMax: number;
}

const DAY_MS = 86_400_000;

/** `server.auto-ban.scan.paths` of release 0.15; `*` is any text. */
export const SCANNED_PATHS = [
  ...['*.php*', '*.cgi*', '*.asp*', '*/wp-*', '*/php*', '*/cgi-bin*', '*xmlrpc*'],
  ...['*../*', '*/..*', '*joomla*', '*wordpress*', '*drupal*'],
];
const scannedText = SCANNED_PATHS.map((pattern) => pattern.replaceAll('*', ''));

/** Encoded paths count as they read when decoded, too. */
function isScanned(path: string): boolean {
  const forms = [path, decodedPath(path)];
  return scannedText.some((text) => forms.some((form) => form.includes(text)));
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function createBans(store: MailStore, { failuresMax, malformedMax }: BanLimits, now: () => number): Bans {
  const banned = new Set(store.bans());
  let counts = new Map<string, number>();
  let day = 0;

  function count(what: string): number {
    const today = Math.floor(now() / DAY_MS);
    if (today !== day) counts = new Map();
    day = today;
    const counted = (counts.get(what) ?? 0) + 1;
    counts.set(what, counted);
    return counted;
  }

  function ban(address: string): boolean {
    banned.add(address);
    store.ban(address);
    return true;
  }

  return {
    isBanned: (address) => banned.has(address),
    failed(address, name) {
      const [ofAddress, ofName] = [count(`address ${address}`), count(`name ${name}`)];
      return Math.max(ofAddress, ofName) > failuresMax && ban(address);
    },
    malformed(address) {
      if (count(`malformed ${address}`) > malformedMax) ban(address);
    },
    scanned: (address, path) => isScanned(path) && ban(address),
  };
}
