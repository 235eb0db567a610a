// The name of a host, as rules for hosts list it.

/** @param host of a request, possibly with a port. Returns it in lower case, without the trailing dot of a fully qualified name. */
export function hostNameIn(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
}
