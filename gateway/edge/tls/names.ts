// Chooses one of several certificates by the host name that a client requests (SNI, RFC 6066 section 3).

interface NamedCertificate {
  readonly names: readonly string[];
}

/**
 * Returns a function that finds the certificate for a name. An exact name has priority over a wildcard, which stands for one label (RFC
 * 9525 section 6.3). Of several certificates with the same name, the first one counts. Returns undefined if no certificate has the name.
 */
export function createNameTable<T extends NamedCertificate>(all: readonly T[]): (name: string) => T | undefined {
  const byName = new Map<string, T>();
  for (const one of all) {
    for (const name of one.names) if (!byName.has(name)) byName.set(name, one);
  }
  return (name) => {
    const wanted = name.toLowerCase().replace(/\.$/, '');
    return byName.get(wanted) ?? byName.get(wanted.replace(/^[^.]*/, '*'));
  };
}
