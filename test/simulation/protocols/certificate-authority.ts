// A certificate authority as a model (RFC 8555): accounts, orders, validations and certificates, with the answers that servers really give
// when they are slow, limited, or forget. It asks a gateway for the answer to a challenge, as a real one does.

import { createPublicKey, generateKeyPairSync, hash, type JsonWebKey, X509Certificate } from 'node:crypto';
import { derInteger, derTagged, octets, oid, sequence, utcTime } from '../../../gateway/acme/der.ts';
import { alternativeNames, signatureAlgorithm, signed } from '../../../gateway/acme/x509.ts';
import type { CommandChecker } from '../checkers/commands.ts';
import type { OrderChecker } from '../checkers/orders.ts';
import { BEGINNING_MS, type World } from '../engine/world.ts';
import { AuthorityAccounts, type Jws } from './authority-accounts.ts';

const BASE = 'https://ca.simulated';
export const DIRECTORY = `${BASE}/directory`;
const PROBLEM = 'urn:ietf:params:acme:error:';
/** The part of its life by which a certificate begins in the past. */
const BACKDATED = 1 / 40;
/** How often it gives an order up, whatever the gateways answer: a resolver of its own fails. */
const GIVEN_UP = 0.02;
/** How often it has lost an account when the next order comes. */
const FORGOTTEN = 0.01;
const AUTHORITY_KEY_IDENTIFIER = '2.5.29.35';

export interface CaAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a gateway would show of a certificate. */
interface IssuedCertificate {
  readonly names: readonly string[];
  readonly validFromMs: number;
  readonly expiresAtMs: number;
  readonly fingerprint: string;
}

interface Order {
  readonly id: string;
  readonly names: readonly string[];
  readonly account: string;
  readonly tokens: readonly string[];
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly valid: Set<string>;
  certificate: string | undefined;
}

interface AuthorityOptions {
  readonly world: World;
  readonly checker: OrderChecker;
  readonly commands: CommandChecker;
  readonly lifetimeMs: number;
  /** Asks some gateway for the key authorization of a token, as http-01 does; undefined: none is reached, or it knows none. */
  askGateway(token: string): Promise<string | undefined>;
}

export class CertificateAuthority {
  /** Certificates by their text. */
  readonly issued = new Map<string, IssuedCertificate>();
  readonly #options: AuthorityOptions;
  readonly #random: World['random'];
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly #nonces = new Set<string>();
  readonly #accounts = new AuthorityAccounts(`${BASE}/account`);
  readonly #orders = new Map<string, Order>();
  #count = 0;
  /** Until when orders for these names are refused (429). */
  readonly #limitedUntilMs = new Map<string, number>();

  constructor(options: AuthorityOptions) {
    this.#options = options;
    this.#random = options.world.random.named('certificate authority');
  }

  /** Answers one request of a place. */
  answer(place: string, method: string, url: string, body: string | undefined): CaAnswer {
    const path = url.slice(BASE.length);
    if (method === 'GET' && path === '/directory') return this.#json(200, directory());
    if (method === 'GET' && path.startsWith('/renewal')) return this.#renewalInfo(path.split('/')[2] ?? '');
    if (method === 'HEAD') return this.#json(200, undefined);
    const jws = JSON.parse(body ?? '{}') as Jws;
    const { header, payload } = readJws(jws);
    if (!this.#nonces.delete(header.nonce ?? '') || this.#random.chance(0.02)) return this.#problem(400, 'badNonce');
    if (path === '/account') return this.#account(header, payload);
    const { kid = '' } = header;
    if (!this.#accounts.has(kid)) return this.#problem(400, 'accountDoesNotExist');
    if (!this.#accounts.isSigned(kid, jws)) {
      if (this.#options.commands.wrongKey()) this.#dropOrders(kid);
      return this.#problem(400, 'malformed');
    }
    return this.#post(place, path, kid, payload);
  }

  #post(place: string, path: string, kid: string, payload: Record<string, unknown> | undefined): CaAnswer {
    const [, kind = '', id = ''] = path.split('/');
    if (kind === 'new-order') return this.#newOrder(place, kid, payload);
    if (kind === 'revoke') return this.#revoke(String(payload?.certificate));
    if (kind === 'key-change') return this.#changeKey(kid, payload);
    const order = this.#orders.get(id);
    if (order?.account !== kid) return this.#problem(401, 'unauthorized');
    this.#options.checker.touched(order.id, place);
    switch (kind) {
      case 'order':
        return this.#json(200, shownOrder(order), order.status === 'processing' ? { 'retry-after': '1' } : {});
      case 'authorization':
        return this.#authorization(order, path.split('/')[3] ?? '');
      case 'challenge':
        void this.#validate(order, path.split('/')[3] ?? '');
        return this.#authorization(order, path.split('/')[3] ?? '');
      case 'finalize':
        return this.#finalize(order);
      default:
        this.#options.checker.downloaded(order.id);
        return { ...this.#json(200, undefined), body: order.certificate ?? '' };
    }
  }

  #account({ jwk }: JwsHeader, payload: Record<string, unknown> | undefined): CaAnswer {
    const isKnown = this.#accounts.find(jwk ?? {}) !== undefined;
    if (!isKnown && payload?.onlyReturnExisting === true) return this.#problem(400, 'accountDoesNotExist');
    return this.#json(201, { status: 'valid' }, { location: this.#accounts.open(jwk ?? {}) });
  }

  #changeKey(kid: string, payload: Record<string, unknown> | undefined): CaAnswer {
    const { jwk } = readJws(payload as unknown as Jws).header;
    if (jwk === undefined || this.#accounts.find(jwk) !== undefined) return this.#problem(409, 'conflict');
    this.#accounts.changeKey(kid, jwk);
    this.#options.commands.keyChanged();
    return this.#json(200, undefined);
  }

  #revoke(der: string): CaAnswer {
    const { commands, checker } = this.#options;
    const issued = this.issued.get(new X509Certificate(Buffer.from(der, 'base64url')).toString());
    const { fingerprint = '', names = [] } = issued ?? {};
    checker.revoked(fingerprint, names.join());
    if (commands.revokedMs(fingerprint) < Number.POSITIVE_INFINITY) return this.#problem(400, 'alreadyRevoked');
    this.#options.world.note('authority', `revokes ${fingerprint.slice(0, 6)}`);
    commands.revoked(fingerprint);
    return this.#json(200, undefined);
  }

  /** It has lost the account, with its orders. */
  #forget(account: string): void {
    this.#options.world.note('authority', `forgets ${account}`);
    this.#accounts.forget(account);
    this.#dropOrders(account);
  }

  /** No gateway can continue the orders of this account. */
  #dropOrders(account: string): void {
    for (const order of this.#orders.values()) if (order.account === account) this.#options.checker.dropped(order.id);
  }

  #newOrder(place: string, kid: string, payload: Record<string, unknown> | undefined): CaAnswer {
    const { world, checker } = this.#options;
    if (this.#random.chance(FORGOTTEN)) {
      this.#forget(kid);
      return this.#problem(400, 'accountDoesNotExist');
    }
    const names = ((payload?.identifiers ?? []) as { value: string }[]).map(({ value }) => value);
    const limitedUntilMs = this.#limitedUntilMs.get(names.join()) ?? 0;
    if (world.now() < limitedUntilMs) {
      checker.orderedWhileLimited(names.join(), limitedUntilMs);
      return this.#limited(limitedUntilMs);
    }
    if (this.#random.chance(0.02)) {
      const untilMs = world.now() + this.#random.between(600_000, 1_800_000);
      this.#limitedUntilMs.set(names.join(), untilMs);
      return this.#limited(untilMs);
    }
    this.#count += 1;
    const id = `o${this.#count}`;
    const tokens = names.map((_, index) => `token-${id}-${index}`);
    this.#orders.set(id, {
      id,
      names,
      account: kid,
      tokens,
      status: 'pending',
      valid: new Set(),
      certificate: undefined,
    });
    world.note('authority', `order ${id} for ${names} by ${place}`);
    checker.ordered(id, names.join());
    return this.#json(201, shownOrder(this.#orders.get(id) as Order), { location: `${BASE}/order/${id}` });
  }

  #limited(untilMs: number): CaAnswer {
    const seconds = Math.ceil((untilMs - this.#options.world.now()) / 1000);
    return this.#problem(429, 'rateLimited', { 'retry-after': String(seconds) });
  }

  #authorization(order: Order, token: string): CaAnswer {
    const status = order.valid.has(token) ? 'valid' : order.status === 'invalid' ? 'invalid' : 'pending';
    const value = order.names[order.tokens.indexOf(token)] ?? '';
    const url = `${BASE}/challenge/${order.id}/${token}`;
    const error = status === 'invalid' ? { error: { detail: 'the answer is wrong' } } : {};
    const challenges = [{ type: 'http-01', url, status, token, ...error }];
    return this.#json(200, { status, identifier: { value }, challenges });
  }

  /** Asks a gateway a few times. */
  async #validate(order: Order, token: string): Promise<void> {
    const { world, askGateway, checker } = this.#options;
    const wanted = `${token}.${this.#accounts.thumbprint(order.account)}`;
    const isOpen = () => order.status === 'pending' && !order.valid.has(token);
    const isGivenUp = this.#random.chance(GIVEN_UP);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await new Promise<void>((resolve) => void world.after(this.#random.between(200, 3000), resolve));
      const answer = isGivenUp || !isOpen() ? undefined : await askGateway(token);
      // It may have been asked to validate the same twice.
      if (!isOpen()) return;
      if (answer !== wanted) continue;
      order.valid.add(token);
      if (order.valid.size === order.names.length) order.status = 'ready';
      return;
    }
    order.status = 'invalid';
    world.note('authority', `order ${order.id} is invalid`);
    checker.ended(order.id);
  }

  #finalize(order: Order): CaAnswer {
    if (order.status !== 'ready') return this.#problem(403, 'orderNotReady');
    order.status = 'processing';
    const { world, checker, commands } = this.#options;
    world.after(this.#random.between(100, 8000), () => {
      const text = this.#issue(order.names);
      order.certificate = text;
      order.status = 'valid';
      world.note('authority', `order ${order.id} is valid`);
      const issued = this.issued.get(text) as IssuedCertificate;
      checker.issued(order.id, issued);
      commands.issued(order.names.join(), issued.fingerprint);
    });
    return this.#json(200, shownOrder(order));
  }

  /** Returns its text. */
  #issue(names: readonly string[]): string {
    const { world, lifetimeMs } = this.#options;
    this.#count += 1;
    // Authorities begin a certificate in the past, because clocks differ.
    const validFromMs = Math.floor((BEGINNING_MS + world.now()) / 1000) * 1000 - lifetimeMs * BACKDATED;
    const expiresAtMs = validFromMs + lifetimeMs;
    const serial = Buffer.alloc(8);
    serial.writeUIntBE(this.#count, 2, 6);
    serial[0] = 1;
    const keyIdentifier = sequence(
      oid(AUTHORITY_KEY_IDENTIFIER),
      octets(sequence(derTagged0(Buffer.from('authority')))),
    );
    const body = sequence(
      derTagged(0, derInteger(Buffer.from([2]))),
      derInteger(serial),
      signatureAlgorithm(),
      sequence(),
      sequence(utcTime(validFromMs), utcTime(expiresAtMs)),
      sequence(),
      createPublicKey(this.#key).export({ type: 'spki', format: 'der' }),
      derTagged(3, sequence(alternativeNames(names), keyIdentifier)),
    );
    const text = new X509Certificate(signed(body, this.#key)).toString();
    const fingerprint = hash('sha256', `certificate ${this.#count}`);
    this.issued.set(text, { names, validFromMs, expiresAtMs, fingerprint });
    return text;
  }

  #renewalInfo(_: string): CaAnswer {
    return this.#json(200, { suggestedWindow: undefined }, { 'retry-after': '21600' });
  }

  #json(status: number, value: object | undefined, headers: Record<string, string> = {}): CaAnswer {
    const nonce = this.#random.bytes(8).toString('hex');
    this.#nonces.add(nonce);
    const type = value === undefined ? {} : { 'content-type': 'application/json' };
    return {
      status,
      headers: { 'replay-nonce': nonce, ...type, ...headers },
      body: value === undefined ? '' : JSON.stringify(value),
    };
  }

  #problem(status: number, type: string, headers: Record<string, string> = {}): CaAnswer {
    return this.#json(status, { type: `${PROBLEM}${type}`, detail: type }, headers);
  }
}

interface JwsHeader {
  readonly nonce?: string;
  readonly jwk?: JsonWebKey;
  readonly kid?: string;
}

function readJws(parts: Jws): { header: JwsHeader; payload: Record<string, unknown> | undefined } {
  const read = (text: string) => (text === '' ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString()));
  return { header: read(parts.protected), payload: read(parts.payload) };
}

function directory() {
  const at = (path: string) => `${BASE}/${path}`;
  return {
    newNonce: at('new-nonce'),
    newAccount: at('account'),
    newOrder: at('new-order'),
    revokeCert: at('revoke'),
    keyChange: at('key-change'),
    renewalInfo: at('renewal'),
  };
}

function shownOrder({ id, names, tokens, status, certificate }: Order) {
  return {
    status,
    identifiers: names.map((value) => ({ type: 'dns', value })),
    authorizations: tokens.map((token) => `${BASE}/authorization/${id}/${token}`),
    finalize: `${BASE}/finalize/${id}`,
    ...(certificate !== undefined && { certificate: `${BASE}/certificate/${id}` }),
  };
}

/** A primitive context tag 0, as the key identifier has it. */
function derTagged0(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80, content.length]), content]);
}
