// Groups client addresses for counting. Pure. A household or a server usually has a whole IPv6 /64 and can change its address within it, so
// one IPv6 address does not identify a client.

const MAPPED = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

/** Returns an IPv4 address unchanged, an IPv4-mapped address as IPv4, and an IPv6 address as its /64. */
export function addressBlockOf(address: string): string {
  if (!address.includes(':')) return address;
  const plain = (address.split('%', 1)[0] as string).toLowerCase();
  const [, dotted, high, low] = MAPPED.exec(plain) ?? [];
  if (dotted !== undefined) return dotted;
  if (high !== undefined && low !== undefined) return dottedOf(Number.parseInt(high, 16), Number.parseInt(low, 16));
  const [head = '', tail] = plain.split('::', 2);
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...new Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

function dottedOf(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
