// Parses the forms of `REDIS_URL`. Pure.

/** The address of one server, of the Sentinels of a master, or of some servers of a Cluster. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly URL[]; readonly master: string; readonly db: number }
  | { readonly kind: 'cluster'; readonly servers: readonly URL[] };

const ONE = /^rediss?:\/\/[^\s]+$/;
/** The library reads any other path as database 0. */
const DATABASE = /^\/?\d*$/;
const SEVERAL =
  /^(?<scheme>rediss?)\+(?<kind>sentinel|cluster):\/\/(?<user>[^\s/@]*@)?(?<hosts>[^\s/@?#]+)(?:\/(?<master>[^\s/?#]+)(?:\/(?<db>\d+))?)?$/;

/**
 * Parses `redis://host:6379/0`, `redis+sentinel://host:26379,host:26379/master/0` or `redis+cluster://host:6379,host:6379`. In each form,
 * `rediss` means TLS, and `user:password@` is for the servers, not for Sentinels. Returns undefined for any other text.
 */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  if (ONE.test(url)) return namesHost(url) && namesDatabase(new URL(url)) ? { kind: 'server', url } : undefined;
  const { scheme, kind, user = '', hosts = '', master, db } = SEVERAL.exec(url)?.groups ?? {};
  const texts = hosts.split(',').map((host) => `${scheme}://${user}${host}`);
  if (kind === undefined || !texts.every(namesHost)) return undefined;
  const urls = texts.map((text) => new URL(text));
  if (kind === 'cluster') return master === undefined ? { kind, servers: urls } : undefined;
  return master === undefined ? undefined : { kind: 'sentinel', sentinels: urls, master, db: Number(db ?? 0) };
}

/** Returns the address without user, password and query, for messages. Unlike `URL`, it accepts several hosts. */
export function shownRedisUrl(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/, '');
}

/** Returns the member `redis` of `/status`, with hosts, ports and database. Returns no member without a Redis. */
export function redisStatus(url: string | undefined): { readonly redis?: { readonly address: string } } {
  return url === undefined ? {} : { redis: { address: shownRedisUrl(url).replace(/^[a-z+]+:\/\//, '') } };
}

/** Characters that need no quotes in a shell. */
const PLAIN = /^[\w.:-]+$/;

/**
 * Returns the options with which `redis-cli` reads the same data, from the server, from the master that a Sentinel names, or from every
 * server of a Cluster. `redis-cli` then asks for the password. Returns undefined for names that need quotes in a shell.
 */
export function redisCliOptions(url: string): string | undefined {
  const address = parseRedisUrl(url);
  if (address === undefined) return undefined;
  const [first] = serversOf(address);
  if (first === undefined) return undefined;
  const { protocol, port, username, password } = first;
  const host = first.hostname.replace(/^\[|\]$/g, '');
  const master = address.kind === 'sentinel' ? address.master : undefined;
  const isPlain = [host, decodeURIComponent(username), master ?? ''].every((name) => name === '' || PLAIN.test(name));
  if (!isPlain) return undefined;
  const tls = protocol === 'rediss:' ? ' --tls' : '';
  const user = username === '' ? '' : ` --user ${decodeURIComponent(username)}`;
  const access = tls + (password === '' ? '' : `${user} --askpass`);
  // An option behind `--cluster call` would end its command.
  if (address.kind === 'cluster') return `${access} --cluster call ${first.hostname}:${port || 6379}`.trimStart();
  if (master === undefined) return `-h ${host} -p ${port || 6379}${access}`;
  const asked = `redis-cli -h ${host} -p ${port || 26_379}${tls} sentinel get-master-addr-by-name ${master}`;
  return `$(${asked} | sed '1s/^/-h /;2s/^/-p /')${access}`;
}

function serversOf(address: RedisAddress): readonly URL[] {
  if (address.kind === 'server') return [new URL(address.url)];
  return address.kind === 'sentinel' ? address.sentinels : address.servers;
}

/** The library also accepts a database in the query, and ends the process if it is not a number. */
function namesDatabase({ pathname, searchParams }: URL): boolean {
  return DATABASE.test(pathname) && searchParams.getAll('db').every((text) => /^\d+$/.test(text));
}

function namesHost(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, port, username, password } = new URL(text);
  return hostname !== '' && port !== '0' && isDecodable(username) && isDecodable(password);
}

/** Whether each percent sign begins an encoded byte, and the bytes are UTF-8. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
