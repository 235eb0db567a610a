// Names of upstreams: that of an entry in upstreams.yaml, or `entry@host` for a further address of it, under `servers`. Names of entries have
// no `@`.

export function nameOfServer(entry: string, server: string): string {
  return `${entry}@${server}`;
}

/** Returns the entry that an upstream belongs to: its settings, its rules and its names of operations are those of the entry. */
export function entryOfUpstream(upstream: string): string {
  const at = upstream.indexOf('@');
  return at === -1 ? upstream : upstream.slice(0, at);
}

export function isFurtherServer(upstream: string): boolean {
  return upstream.includes('@');
}
