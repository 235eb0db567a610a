// Which of several certificates a client is shown, by the name that it asks for (SNI, RFC 6066 section 3).

export interface NamedCertificate {
  readonly names: readonly string[];
}

/**
 * An exact name beats a wildcard, which stands for one label (RFC 9525 section 6.3); whoever comes first in the list beats the others.
 * Answers undefined where none is for that name.
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
