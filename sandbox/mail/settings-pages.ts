// What other programs look up without a login: the settings of mail programs, the policy of MTA-STS (RFC 8461), and the challenges of a
// certificate authority (RFC 8555).
import type { IncomingMessage } from 'node:http';
import { bareAnswer, type MailAnswer, noSuchResource } from './answers.ts';
import { readMailBody } from './body.ts';
import { lastOf } from './query.ts';
import type { Rates } from './rates.ts';
import { openidConfigurationOf } from './session.ts';

interface Parts {
  readonly rates: Rates;
  /** Token → the proof that the authority is to find. */
  readonly challenges: ReadonlyMap<string, string>;
  origin(): string;
}

interface Asked {
  readonly request: IncomingMessage;
  readonly address: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** An answer, or undefined where no such page has the path. @throws Refused */
export type SettingsPages = (asked: Asked) => Promise<MailAnswer | undefined>;

const AUTOCONFIG = [
  '/mail/config-v1.1.xml',
  '/.well-known/autoconfig/mail/config-v1.1.xml',
  '/.well-known/mail-v1.xml',
];
const CHALLENGE = '/.well-known/acme-challenge/';
const AUTODISCOVER_BYTES_MAX = 8192;
const ADDRESS = /<EMailAddress>([^<@]*@[^<]*)<\/EMailAddress>/i;

export function createSettingsPages({ rates, challenges, origin }: Parts): SettingsPages {
  const hostName = () => new URL(origin()).hostname;

  async function autodiscover({ request }: Asked): Promise<MailAnswer> {
    const body = await readMailBody(request, AUTODISCOVER_BYTES_MAX);
    const [, mailAddress] = ADDRESS.exec(body?.toString() ?? '') ?? [];
    if (mailAddress === undefined) throw noSuchResource();
    return xml(`<Autodiscover><Response>${protocolsOf(hostName(), mailAddress)}</Response></Autodiscover>`);
  }

  return async function page(asked) {
    const { request, address, path, query } = asked;
    const isGet = request.method === 'GET';
    if (isGet && path.startsWith(CHALLENGE)) {
      const proof = challenges.get(path.slice(CHALLENGE.length));
      return proof === undefined ? undefined : text('text/plain', proof);
    }
    const isAutodiscover = request.method === 'POST' && path === '/autodiscover/autodiscover.xml';
    const isPage =
      isGet && [...AUTOCONFIG, '/.well-known/mta-sts.txt', '/.well-known/openid-configuration'].includes(path);
    if (!isPage && !isAutodiscover) return undefined;
    rates.countAnonymous(address);
    if (isAutodiscover) return autodiscover(asked);
    if (path === '/.well-known/openid-configuration') return openidConfigurationOf(origin());
    if (path === '/.well-known/mta-sts.txt')
      return text('text/plain', `version: STSv1\nmode: testing\nmx: ${hostName()}\nmax_age: 604800\n`);
    const mailAddress = lastOf(query, 'emailaddress') ?? '';
    if (!mailAddress.includes('@')) return bareAnswer(404);
    return xml(`<clientConfig version="1.1">${protocolsOf(hostName(), mailAddress)}</clientConfig>`);
  };
}

function protocolsOf(host: string, mailAddress: string): string {
  const user = mailAddress.replace(/[<>&"']/g, '');
  const server = (type: string, port: number) =>
    `<server type="${type}"><hostname>${host}</hostname><port>${port}</port><username>${user}</username></server>`;
  return server('imap', 993) + server('smtp', 587);
}

const xml = (body: string) => text('application/xml; charset=utf-8', `<?xml version="1.0" encoding="UTF-8"?>${body}`);

const text = (type: string, body: string): MailAnswer => ({ status: 200, headers: { 'content-type': type }, body });
